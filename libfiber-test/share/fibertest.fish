# fish completion for fibertest
# SPDX-License-Identifier: MIT

# Whether the words before the cursor are options and their values.
function __fibertest_needs_program
	set -l words (commandline -opc)
	set -l takes replay schedules seed strategy steps preemptions faults fault-limit slack time hang jobs at-failure timeline format progress
	set -e words[1]
	while set -q words[1]
		if string match -q -- '--*' $words[1]; and contains -- (string sub -s 3 -- $words[1]) $takes
			set -e words[1]
		else if contains -- $words[1] -j -o
			set -e words[1]
		else if not string match -q -- '-*' $words[1]
			return 1
		end
		set -q words[1]; and set -e words[1]
	end
	return 0
end

complete -c fibertest -n __fibertest_needs_program -l replay -x -d 'run the one schedule of a token in this process'
complete -c fibertest -n __fibertest_needs_program -l schedules -x -d 'run at most so many schedules'
complete -c fibertest -n __fibertest_needs_program -l seed -x -d 'the same seed gives the same schedules'
complete -c fibertest -n __fibertest_needs_program -l strategy -x -d 'how schedules are chosen' \
	-a '(__fish_append , random pct pos urw surw bound exhaustive each-fault portfolio)'
complete -c fibertest -n __fibertest_needs_program -l steps -x -d 'choices in one schedule'
complete -c fibertest -n __fibertest_needs_program -l preemptions -x -d 'switches away from a fiber that could go on'
complete -c fibertest -n __fibertest_needs_program -l faults -x -d 'what fails' \
	-a '(__fish_append , memory short reset descriptors cancel spurious disk spawn all none)'
complete -c fibertest -n __fibertest_needs_program -l fault-limit -x -d 'faults in one schedule'
complete -c fibertest -n __fibertest_needs_program -l slack -x -a none -d 'how far the clock may run ahead'
complete -c fibertest -n __fibertest_needs_program -l time -x -a none -d 'real time for each test'
complete -c fibertest -n __fibertest_needs_program -l hang -x -a none -d 'real time without a choice'
complete -c fibertest -n __fibertest_needs_program -s j -l jobs -x -d processes
complete -c fibertest -n __fibertest_needs_program -l trace -d 'print every step of a replay'
complete -c fibertest -n __fibertest_needs_program -l at-failure -x -a 'report abort stop' -d 'what a replay does when it fails'
complete -c fibertest -n __fibertest_needs_program -l timeline -r -F -d 'write a replay as a recording'
complete -c fibertest -n __fibertest_needs_program -l no-minimize -d 'keep the schedule as it was found'
complete -c fibertest -n __fibertest_needs_program -l keep-going -d 'go on after a finding'
complete -c fibertest -n __fibertest_needs_program -l format -x -a 'text tap junit json' -d 'of the report'
complete -c fibertest -n __fibertest_needs_program -s o -r -F -d 'write there'
complete -c fibertest -n __fibertest_needs_program -l progress -x -a 'auto always never' -d 'a line on a terminal'
complete -c fibertest -n __fibertest_needs_program -l help -d 'print the options'
complete -c fibertest -n __fibertest_needs_program -l version -d 'print the version'
# Its own options end at the program.
complete -c fibertest -n __fibertest_needs_program -a '(__fish_complete_command)'
