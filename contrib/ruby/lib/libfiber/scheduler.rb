# SPDX-License-Identifier: MIT
#
# scheduler.rb - the hooks of a Fiber::Scheduler that are made of others. See ../../README.md
#
#     require "libfiber/scheduler"
#     Fiber.set_scheduler(LibFiber::Scheduler.new)
#     Fiber.schedule { sleep 1 }

require "io/wait"
require "timeout"
require "libfiber_waits"

module LibFiber
  class Scheduler
    # fiber_interrupt(fiber, exception), which Ruby 3.5 calls from another thread when an IO is closed.
    def fiber_interrupt(fiber, exception)
      start_timer(0, -> { fiber.raise(exception) if fiber.alive? })
    end

    def timeout_after(duration, klass = Timeout::Error, message = "execution expired")
      fiber = Fiber.current
      timer = start_timer(duration, -> { fiber.raise(klass, message) if fiber.alive? })
      yield duration
    ensure
      stop_timer(timer) if timer && !closed?
    end

    # A child is waited for by a descriptor. The status is taken in a blocking fiber, because Ruby would call this hook again.
    # Children of unknown number are waited for in a thread of Ruby.
    def process_wait(pid, flags)
      return Thread.new { Process::Status.wait(pid, flags) }.value if pid <= 0

      child = IO.for_fd(pidfd(pid)) if (flags & Process::WNOHANG).zero?
      io_wait(child, IO::READABLE, nil) if child
      Fiber.new(blocking: true) { Process::Status.wait(pid, flags) }.resume
    ensure
      child&.close
    end

    # Ruby calls it from 3.2 on.
    def io_select(readable, writable = nil, priority = nil, timeout = nil)
      wanted = Hash.new(0).compare_by_identity
      { readable => IO::READABLE, writable => IO::WRITABLE, priority => IO::PRIORITY }
        .compare_by_identity.each { |list, event| list&.each { |io| wanted[io] |= event } }
      buffered = (readable || []).select { |io| buffered?(io.to_io) }
      timeout = 0 unless buffered.empty?
      ready = wanted.keys.zip(poll(wanted.map { |io, events| [io.to_io.fileno, events] }, timeout)).to_h.compare_by_identity
      buffered.each { |io| ready[io] |= IO::READABLE }
      found = [[readable, IO::READABLE | HUNG_UP], [writable, IO::WRITABLE | HUNG_UP], [priority, IO::PRIORITY]]
              .map { |list, events| (list || []).reject { |io| (ready[io] & events).zero? } }
      found.all?(&:empty?) ? nil : found
    end

    # Ruby calls it when the scheduler is replaced, and when its thread ends.
    def scheduler_close
      return if closed?

      run
    ensure
      finish
    end

    def close
      return scheduler_close if @closing || !Fiber.scheduler.equal?(self)

      @closing = true
      Fiber.set_scheduler(nil)
    end

    HUNG_UP = 0x18 # POLLERR | POLLHUP
    private_constant :HUNG_UP

    private

    # Whether Ruby has bytes of it in memory.
    def buffered?(io)
      io.respond_to?(:nread) && io.nread.positive?
    end
  end
end
