# SPDX-License-Identifier: MIT
#
# tap.rb - tests of the scheduler, printed as TAP

require "libfiber/scheduler"
require "socket"

Warning[:experimental] = false
LONG = 30 # seconds that no test takes

# Failures are printed by the test.
Thread.report_on_exception = false

class Failure < StandardError; end

module Tap
  @tests = []
  class << self
    attr_reader :tests

    def run
      puts "1..#{tests.size}"
      failed = tests.each.with_index(1).reject { |(name, body), number| passes?(name, body, number) }
      exit!(failed.empty? ? 0 : 1)
    end

    private

    def passes?(name, body, number)
      body.call
      puts "ok #{number} - #{name}"
      true
    rescue StandardError => e
      puts "not ok #{number} - #{name}", e.full_message(highlight: false).gsub(/^/, "# ")
      false
    ensure
      $stdout.flush
    end
  end
end

def test(name, &body)
  Tap.tests << [name, body]
end

def equal(expected, found)
  raise Failure, "expected #{expected.inspect}, found #{found.inspect}" unless expected == found
end

def check(condition)
  raise Failure, "does not hold" unless condition
end

# Run the block in a thread that has a scheduler, and the fibers that it starts. Returns the block's value.
def scheduled(scheduler = nil)
  thread = Thread.new do
    scheduler ||= LibFiber::Scheduler.new
    Fiber.set_scheduler(scheduler)
    yield scheduler
  end
  raise Failure, "still running after #{LONG} s: #{thread.backtrace&.first(5)}" unless thread.join(LONG)

  thread.value
end

def now
  Process.clock_gettime(Process::CLOCK_MONOTONIC)
end
