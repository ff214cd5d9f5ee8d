# SPDX-License-Identifier: MIT
#
# echo.rb - an echo server: this scheduler beside one that uses IO.select
#
# echo.rb LOAD [REPEATS]: LOAD is the program of load.c. The servers take turns; medians of REPEATS runs of a second: answers a
# second, and the server's CPU time for each, which depends less on what else the machine does.
# echo.rb --server NAME: the server, for this program.

require "socket"

CONNECTIONS = [1, 10, 100, 1000].freeze
SCHEDULERS = {
  "libfiber" => -> { require("libfiber/scheduler") || true and LibFiber::Scheduler.new },
  "select" => -> { require_relative("select_scheduler") || true and SelectScheduler.new }
}.freeze

def serve(name)
  server = TCPServer.new("127.0.0.1", 0)
  server.listen(1024)
  Fiber.set_scheduler(SCHEDULERS.fetch(name).call)
  Fiber.schedule do
    loop do
      client = server.accept
      client.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
      Fiber.schedule do
        while (bytes = client.readpartial(4096))
          client.write(bytes)
        end
      rescue EOFError, Errno::ECONNRESET
        client.close
      end
    end
  end
  puts server.addr[1]
  $stdout.flush
end

# Nanoseconds of all threads.
def cpu_time(pid)
  Dir.glob("/proc/#{pid}/task/*/schedstat").sum { |file| Integer(File.read(file).split[0]) }
end

def measure(name, connections)
  paths = $LOAD_PATH.flat_map { |path| ["-I", path] }
  server = IO.popen([RbConfig.ruby, *paths, "-W0", __FILE__, "--server", name])
  port = server.gets.to_i
  before = cpu_time(server.pid)
  answers = Integer(IO.popen([ARGV[0], port.to_s, connections.to_s, "1"], &:read))
  [answers, (cpu_time(server.pid) - before) / 1000.0 / [answers, 1].max]
ensure
  Process.kill(:KILL, server.pid)
  server.close
end

if ARGV[0] == "--server"
  serve(ARGV[1])
else
  repeats = Integer(ARGV[1] || 5)
  puts "connections  #{SCHEDULERS.keys.map { |name| "#{name}: answers/s  CPU us each   " }.join}"
  CONNECTIONS.each do |connections|
    runs = repeats.times.map { SCHEDULERS.keys.map { |name| measure(name, connections) } }.transpose
    medians = runs.map { |results| results.transpose.map { |values| values.sort[repeats / 2] } }
    puts format("%11d  %s", connections, medians.map { |answers, cpu| format("%19d %12.1f   ", answers, cpu) }.join)
  end
end
