# SPDX-License-Identifier: MIT
#
# test_scheduler.rb - what Ruby's own tests (test/fiber) ask of a scheduler, and what this one adds

require_relative "tap"

MESSAGE = "Hello World"

# -- the life of a scheduler --

test "a scheduler is closed when its thread ends" do
  scheduler = LibFiber::Scheduler.new
  check !scheduler.closed?
  scheduled(scheduler) {}
  check scheduler.closed?
end

test "a scheduler is closed when another one takes its place" do
  scheduled do |scheduler|
    Fiber.set_scheduler(nil)
    check scheduler.closed?
  end
end

test "a scheduler that its program closes runs its fibers first" do
  slept = false
  scheduled do |scheduler|
    Fiber.schedule { slept = !sleep(0.01).nil? }
    scheduler.close
    check slept
    check scheduler.closed?
    equal nil, Fiber.scheduler
  end
end

test "fibers of the main thread run at its exit" do
  program = 'require "libfiber/scheduler"; Fiber.set_scheduler(LibFiber::Scheduler.new); Fiber.schedule { sleep(0); puts "ran" }'
  equal "ran\n", IO.popen([RbConfig.ruby, *$LOAD_PATH.flat_map { |path| ["-I", path] }, "-e", program], &:read)
end

test "the scheduler is current in its fibers only" do
  scheduled do |scheduler|
    equal nil, Fiber.current_scheduler
    Fiber.schedule { check Fiber.current_scheduler.equal?(scheduler) }
    check Fiber.scheduler.equal?(scheduler)
  end
end

test "an exception of a fiber ends the run, and the next run goes on" do
  ran = []
  scheduled do |scheduler|
    Fiber.schedule { sleep(0.01); raise ArgumentError, "of a fiber" }
    3.times { |i| Fiber.schedule { sleep(0.02); ran << i } }
    error = scheduler.run rescue $!
    equal "of a fiber", error.message
  end
  equal [0, 1, 2], ran.sort
end

test "a closed scheduler refuses waits" do
  scheduler = scheduled { |s| s }
  error = scheduler.block(:sleep, 0) rescue $!
  equal "the scheduler is closed", error.message
end

# -- time --

test "sleeps of fibers overlap, and end in the order of their times" do
  order = []
  began = now
  scheduled do
    [3, 1, 2].each { |n| Fiber.schedule { sleep(n * 0.05); order << n } }
  end
  equal [1, 2, 3], order
  check now - began >= 0.15
end

test "a sleep returns the whole seconds that have passed" do
  result = nil
  scheduled { Fiber.schedule { result = sleep(0.001) } }
  equal 0, result
end

test "a timeout is raised in the fiber, and the fiber can wait again" do
  error = after = nil
  scheduled do
    Fiber.schedule do
      begin
        Timeout.timeout(0.01) { sleep(LONG) }
      rescue Timeout::Error => e
        error = e
      end
      sleep(0.001)
      after = true
    end
  end
  check error
  check after
end

test "a timeout that is not reached does not keep the scheduler" do
  began = now
  scheduled { Fiber.schedule { equal :done, Timeout.timeout(LONG) { sleep(0.001); :done } } }
  check now - began < LONG
end

test "an exception raised from another fiber ends each kind of wait" do
  errors = []
  reader, writer = IO.pipe
  scheduled do
    waits = [-> { sleep }, -> { reader.read(1) }, -> { Queue.new.pop }, -> { reader.wait_readable(LONG) }]
    fibers = waits.map do |wait|
      Fiber.schedule do
        wait.call
      rescue ArgumentError => e
        sleep(0.001)
        errors << e.message
      end
    end
    fibers.each { |fiber| fiber.raise(ArgumentError, "raised") }
  end
  equal ["raised"] * 4, errors
  [reader, writer].each(&:close)
end

test "an exception reaches a fiber whose wait has ended and which has not gone on" do
  events = []
  scheduled do
    second = nil
    Fiber.schedule { sleep(0.001); second.raise(ArgumentError, "raised") }
    second = Fiber.schedule do
      begin
        sleep(0.002)
      rescue ArgumentError
        events << :raised
      end
      events << sleep(0.001)
    end
    # Both waits end meanwhile.
    ended = now + 0.05
    Thread.pass while now < ended
  end
  equal [:raised, 0], events
end

# -- descriptors --

test "a fiber reads what another writes" do
  message = nil
  i, o = UNIXSocket.pair
  scheduled do
    Fiber.schedule { message = i.read(20); i.close }
    Fiber.schedule { o.write(MESSAGE); o.close }
  end
  equal MESSAGE, message
  check i.closed? && o.closed?
end

test "sixteen threads have a scheduler each" do
  16.times.map do
    Thread.new do
      i, o = UNIXSocket.pair
      Fiber.set_scheduler(LibFiber::Scheduler.new)
      read = nil
      Fiber.schedule { read = i.read(20); i.close }
      Fiber.schedule { o.write(MESSAGE); o.close }
      Fiber.scheduler.run
      read
    end
  end.each { |thread| equal MESSAGE, thread.value }
end

test "megabytes go through a pipe whose ends wait for each other" do
  data = Random.new(1).bytes(3_000_000)
  received = nil
  reader, writer = IO.pipe(binmode: true)
  scheduled do
    Fiber.schedule { received = reader.read }
    Fiber.schedule { writer.write(data); writer.close }
  end
  check received == data
  reader.close
end

test "a descriptor in blocking mode blocks no other fiber" do
  reader, writer = IO.pipe
  require "io/nonblock"
  reader.nonblock = false
  ticks = 0
  scheduled do
    Fiber.schedule { equal "x", reader.read(1) }
    Fiber.schedule { 3.times { sleep(0.001); ticks += 1 }; writer.write("x") }
  end
  equal 3, ticks
  [reader, writer].each(&:close)
end

test "several fibers wait for one descriptor, in both directions" do
  a, b = UNIXSocket.pair
  events = []
  scheduled do
    2.times { Fiber.schedule { events << a.wait_readable(LONG).equal?(a) } }
    Fiber.schedule { events << a.wait_writable(LONG).equal?(a) }
    Fiber.schedule { sleep(0.01); b.write("x") }
  end
  equal [true] * 3, events
  [a, b].each(&:close)
end

test "a wait for a descriptor ends at its timeout" do
  a, b = UNIXSocket.pair
  scheduled { Fiber.schedule { equal nil, a.wait_readable(0.01) } }
  [a, b].each(&:close)
end

test "the end of a file and a lost peer are not waited for" do
  a, b = UNIXSocket.pair
  b.close
  error = nil
  scheduled do
    Fiber.schedule { equal nil, a.read(1) }
    Fiber.schedule { a.write("x") rescue error = $! }
  end
  check error.is_a?(Errno::EPIPE)
  a.close
end

test "a server accepts and answers clients" do
  server = TCPServer.new("127.0.0.1", 0)
  answers = []
  scheduled do
    Fiber.schedule do
      20.times do
        client = server.accept
        Fiber.schedule { client.puts(client.gets.upcase); client.close }
      end
    end
    20.times do |i|
      Fiber.schedule do
        socket = TCPSocket.new("127.0.0.1", server.addr[1])
        socket.puts("client #{i}")
        answers << socket.gets
        socket.close
      end
    end
  end
  equal 20.times.map { |i| "CLIENT #{i}\n" }.sort, answers.sort
  server.close
end

test "a file is read and written" do
  require "tempfile"
  Tempfile.create("scheduler") do |file|
    scheduled { Fiber.schedule { file.write(MESSAGE * 1000); file.flush; file.rewind; equal MESSAGE * 1000, file.read } }
  end
end

test "io_select finds what is ready, and what Ruby has in memory" do
  reader, writer = IO.pipe
  idle, = IO.pipe
  scheduled do |scheduler|
    Fiber.schedule do
      equal [[], [writer], []], scheduler.io_select([reader], [writer], nil, LONG)
      equal nil, scheduler.io_select([reader, idle], nil, nil, 0.01)
      Fiber.schedule { sleep(0.01); writer.write("ab\ncd\n") }
      equal [[reader], [], []], scheduler.io_select([idle, reader], [], [], nil)
      equal "ab\n", reader.gets
      equal [[reader], [], []], scheduler.io_select([idle, reader], [], [], nil)
    end
  end
  [reader, writer, idle].each(&:close)
end

# -- other threads, locks --

test "a mutex is handed from one fiber to the next" do
  mutex = Mutex.new
  order = []
  scheduled do
    3.times { |i| Fiber.schedule { mutex.synchronize { order << i; sleep(0.005); order << i } } }
  end
  equal [0, 0, 1, 1, 2, 2], order
end

test "a condition is signalled" do
  mutex = Mutex.new
  condition = ConditionVariable.new
  signalled = 0
  scheduled do
    3.times { Fiber.schedule { mutex.synchronize { condition.wait(mutex); signalled += 1 } } }
    Fiber.schedule { mutex.synchronize { condition.signal }; sleep(0.001); mutex.synchronize { condition.broadcast } }
  end
  equal 3, signalled
end

test "a fiber waits for another thread's value and queue" do
  queue = Queue.new
  thread = Thread.new { 1000.times { |i| queue << i }; :done }
  values = []
  scheduled do
    Fiber.schedule { equal :done, thread.value }
    Fiber.schedule { 1000.times { values << queue.pop } }
  end
  equal 1000.times.to_a, values
end

test "two fibers exchange through queues of one place" do
  there = SizedQueue.new(1)
  back = SizedQueue.new(1)
  sum = 0
  scheduled do
    Fiber.schedule { 500.times { |i| there << i; sum += back.pop } }
    Fiber.schedule { 500.times { back << there.pop * 2 } }
  end
  equal 499 * 500, sum
end

# Ruby 3.1 makes it a blocking fiber: it blocks its thread, but not others.
test "an external enumerator reads in its own fiber" do
  reader, writer = IO.pipe
  lines = []
  thread = Thread.new { 3.times { |i| sleep(0.001); writer.puts(i) } }
  scheduled { Fiber.schedule { each = reader.each_line; 3.times { lines << each.next } } }
  equal %W[0\n 1\n 2\n], lines
  thread.join
  [reader, writer].each(&:close)
end

test "a fiber that starts fibers goes on after them" do
  order = []
  scheduled do
    Fiber.schedule do
      order << :outer
      Fiber.schedule { order << :inner; sleep(0.01); order << :slept }
      order << :on
    end
  end
  equal %i[outer inner on slept], order
end

test "an interrupt from another thread ends the run" do
  thread = Thread.new do
    Fiber.set_scheduler(LibFiber::Scheduler.new)
    Fiber.schedule { sleep }
    Fiber.scheduler.run
  end
  Thread.pass until thread.stop?
  thread.raise(ArgumentError, "from outside")
  sleep(0.01)
  thread.kill # the scheduler's close runs it again
  error = thread.join(LONG) && nil rescue $!
  equal "from outside", error.message
end

# -- processes, names --

test "children are waited for" do
  scheduled do
    Fiber.schedule do
      Process.wait(Process.spawn("exit 3"))
      equal 3, $?.exitstatus
      check system("true")
      equal "x\n", `echo x`
      Process.wait(Process.fork { exit!(5) })
      equal 5, $?.exitstatus
      pid = Process.spawn("exit 4")
      equal pid, Process.wait(-1)
      equal 4, $?.exitstatus
    end
  end
end

test "a child that was forked in a fiber ends as it wants" do
  status = nil
  scheduled do
    Fiber.schedule do
      Process.wait(Process.fork { exit(7) })
      status = $?.exitstatus
    end
  end
  equal 7, status
end

test "names are resolved" do
  scheduled do |scheduler|
    Fiber.schedule { check Addrinfo.getaddrinfo("localhost", 80, nil, :STREAM).any? { |a| a.ipv4_loopback? || a.ipv6_loopback? } }
    Fiber.schedule { equal ["127.0.0.1"], scheduler.address_resolve("127.0.0.1") }
    Fiber.schedule { equal [], scheduler.address_resolve("no..name") }
  end
end

# -- memory --

def fibers_alive
  GC.start
  ObjectSpace.each_object(Fiber).count(&:alive?)
end

test "ten thousand fibers that waited leave nothing" do
  scheduled do |scheduler|
    before = fibers_alive
    10.times do
      1000.times { Fiber.schedule { sleep(0.001) } }
      scheduler.run
    end
    check fibers_alive <= before
  end
end

test "waiting fibers and timers survive the collector" do
  woken = 0
  scheduled do
    100.times { Fiber.schedule { sleep(0.01); woken += 1 } }
    Fiber.schedule do
      error = Timeout.timeout(0.01) { 20.times { GC.start; sleep(0.001) }; sleep } rescue $!
      check error.is_a?(Timeout::Error)
    end
  end
  equal 100, woken
end

Tap.run
