# fish completion for fiberize
# SPDX-License-Identifier: MIT

# Whether the words before the cursor are options and their values.
function __fiberize_needs_program
	set -l words (commandline -opc)
	set -e words[1]
	while set -q words[1]
		if contains -- $words[1] --carriers --carriers-max --stack --trim --watchdog
			set -e words[1]
		else if not string match -q -- '-*' $words[1]
			return 1
		end
		set -q words[1]; and set -e words[1]
	end
	return 0
end

complete -c fiberize -n __fiberize_needs_program -l carriers -x -a '1 2 4 8' -d 'how many threads run the fibers'
complete -c fiberize -n __fiberize_needs_program -l carriers-max -x -a '1 2 4 8' -d 'how many at most, with substitutes'
complete -c fiberize -n __fiberize_needs_program -l stack -x -a '256k 1m 8m' -d 'the stack of a fiber'
complete -c fiberize -n __fiberize_needs_program -l trim -x -a '1s 5s 1m off' -d 'when a waiting thread loses unused stack'
complete -c fiberize -n __fiberize_needs_program -l watchdog -x -a '20ms 100ms 1s' -d 'report fibers that run for longer'
complete -c fiberize -n __fiberize_needs_program -s h -l help -d 'print the options'
complete -c fiberize -n __fiberize_needs_program -s V -l version -d 'print the version'
# Its own options end at the program.
complete -c fiberize -n __fiberize_needs_program -a '(__fish_complete_command)'
