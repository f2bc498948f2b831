# SPDX-License-Identifier: Apache-2.0
# Completion of berth for fish: "berth __complete" prints the candidates.

function __berth_paths --argument-names what typed
	# The path begins after "--flag=".
	set -l flag (string match --regex -- '^--[^=]*=' $typed)
	set -l path (string replace --regex -- '^--[^=]*=' '' $typed)
	if test $what = :dirs
		set paths (__fish_complete_directories $path '')
	else
		set paths (__fish_complete_path $path)
	end
	for found in $paths
		echo -- "$flag$found"
	end
end

function __berth_complete
	set -l words (commandline --tokenize --cut-at-cursor --current-process)
	set -l typed (commandline --current-token --cut-at-cursor)
	set -l program $words[1]
	set -e words[1]
	# kube-scheduler may be upstream's program: complete its flags with berth.
	if test (basename -- $program) = kube-scheduler
		set program berth
		set -p words scheduler
	end
	set program (string replace --regex -- '^~' $HOME $program)
	for line in ($program __complete $words $typed 2>/dev/null)
		switch $line
			case :files :dirs
				__berth_paths $line $typed
			case :nospace
				# fish appends no blank after "=" anyway.
			case '*'
				echo -- $line
		end
	end
end

complete --command berth --no-files --arguments '(__berth_complete)'
complete --command kube-scheduler --no-files --arguments '(__berth_complete)'
