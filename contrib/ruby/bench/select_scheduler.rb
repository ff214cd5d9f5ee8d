# SPDX-License-Identifier: MIT
#
# select_scheduler.rb - a small scheduler in Ruby alone, on IO.select: what the echo server is compared with
#
# It has what an echo server needs: io_wait, kernel_sleep, block, unblock and fiber.

class SelectScheduler
  def initialize
    @loop = Fiber.current
    @readers = {}.compare_by_identity
    @writers = {}.compare_by_identity
    @sleepers = {}.compare_by_identity
    @blocked = {}.compare_by_identity
    @ready = []
    @lock = Mutex.new
    @wake_reader, @wake_writer = IO.pipe
  end

  def fiber(&block)
    fiber = Fiber.new(blocking: false, &block)
    @ready << Fiber.current unless Fiber.current.equal?(@loop)
    fiber.transfer
    fiber
  end

  def io_wait(io, events, duration)
    fiber = Fiber.current
    @readers[io] = fiber unless (events & IO::READABLE).zero?
    @writers[io] = fiber unless (events & IO::WRITABLE).zero?
    @sleepers[fiber] = now + duration if duration
    @loop.transfer || false
  ensure
    @readers.delete(io) if @readers[io].equal?(fiber)
    @writers.delete(io) if @writers[io].equal?(fiber)
    @sleepers.delete(fiber)
  end

  def kernel_sleep(duration = nil)
    block(:sleep, duration)
  end

  def block(_blocker, duration = nil)
    fiber = Fiber.current
    duration ? @sleepers[fiber] = now + duration : @blocked[fiber] = true
    @loop.transfer
  ensure
    @sleepers.delete(fiber)
    @blocked.delete(fiber)
  end

  def unblock(_blocker, fiber)
    @lock.synchronize { @ready << fiber }
    @wake_writer.write_nonblock(".", exception: false)
  end

  def close
    run_once until @readers.empty? && @writers.empty? && @sleepers.empty? && @blocked.empty? && @ready.empty?
  end

  private

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end

  def next_timeout
    return 0 unless @ready.empty?

    earliest = @sleepers.values.min
    earliest && [earliest - now, 0].max
  end

  def run_once
    readable, writable = IO.select(@readers.keys << @wake_reader, @writers.keys, nil, next_timeout)
    @wake_reader.read_nonblock(1024, exception: false) if readable&.delete(@wake_reader)
    readable&.each { |io| @readers[io]&.transfer(IO::READABLE) }
    writable&.each { |io| @writers[io]&.transfer(IO::WRITABLE) }
    time = now
    @sleepers.select { |_, deadline| deadline <= time }.each_key(&:transfer)
    ready, @ready = @lock.synchronize { [@ready, []] }
    ready.each { |fiber| fiber.transfer if fiber.alive? }
  end
end
