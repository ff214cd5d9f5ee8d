# SPDX-License-Identifier: MIT
#
# test_fiberctl.rb - fiberctl shows the waits of a Ruby program

require_relative "tap"
require "json"

FIBERCTL = File.join(ENV.fetch("FIBER_BUILD"), "bin", "fiberctl")

# The fibers of this process, once the block finds them complete. fiberctl has no answer before the runtime has its socket.
def listed
  deadline = now + LONG
  loop do
    answer = IO.popen([FIBERCTL, "list", "--json", Process.pid.to_s], err: File::NULL, &:read)
    rows = answer.empty? ? [] : JSON.parse(answer)["fibers"]
    return rows if yield rows
    raise Failure, "not found in #{answer}" if now > deadline
  end
end

def named(rows, name)
  rows.find { |row| row["name"] == name }
end

test "fiberctl list shows what each Ruby fiber waits for, and where" do
  reader, writer = IO.pipe
  queue = Queue.new
  rows = nil
  line = __LINE__ + 4
  thread = Thread.new do
    Fiber.set_scheduler(LibFiber::Scheduler.new("worker"))
    Fiber.schedule(name: "reader") do
      reader.read(1)
    end
    Fiber.schedule(name: "consumer") { queue.pop }
    Fiber.schedule { sleep(LONG) }
  end
  rows = listed { |list| list.size == 4 && list.all? { |row| row["state"] == "suspended" } }
  equal ["fd", reader.fileno], named(rows, "reader")["wait"].values_at("kind", "fd")
  equal({ "at" => "test_fiberctl.rb:#{line}" }, named(rows, "reader")["labels"])
  equal "Thread::Queue", named(rows, "consumer")["labels"]["for"]
  equal({ "at" => "test_fiberctl.rb:#{line + 3}", "for" => "sleep" }, named(rows, "ruby-1")["labels"])
  check named(rows, "ruby-1")["wait"]["deadlineNs"]
  writer.write("x")
  queue << 1
  listed { |list| list.any? && list.none? { |row| row["wait"] && row["wait"]["kind"] == "fd" } }
  thread.kill
end

Tap.run
