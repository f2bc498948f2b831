# SPDX-License-Identifier: Apache-2.0
# Completion of berth for bash: "berth __complete" prints the candidates.

# _berth_words: the words up to the cursor, as the program gets them. bash also splits words at
# "=" and ":", so words without a blank between them are joined.
_berth_words() {
	local line=${COMP_LINE:0:COMP_POINT} word i
	_berth_line=()
	for ((i = 0; i <= COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if ((i == 0)) || [[ $line == [[:blank:]]* || -z $line ]]; then
			line=${line#"${line%%[![:blank:]]*}"}
			_berth_line+=("")
		fi
		((i == COMP_CWORD)) && word=$line
		_berth_line[${#_berth_line[@]} - 1]+=$word
		line=${line#"$word"}
	done
}

_berth() {
	local -a _berth_line
	local program=${1:-berth} typed=${2-} answer word first i
	_berth_words
	local -a words=("${_berth_line[@]:1}")
	# kube-scheduler may be upstream's program: complete its flags with berth.
	if [[ ${program##*/} == kube-scheduler ]]; then
		program=berth
		words=(scheduler "${words[@]}")
	fi
	local last=$((${#words[@]} - 1))
	for ((i = 0; i < last; i++)); do
		words[i]=${words[i]//[\"\'\\]/}
	done
	answer=$("${program/#\~/$HOME}" __complete "${words[@]}" 2>/dev/null) || return 0
	# bash replaces only the text after the last "=" or ":".
	first=${words[last]%"$typed"}
	COMPREPLY=()
	while IFS=$'\t' read -r word _; do
		case $word in
		"") ;;
		:files) compopt -o default ;;
		:dirs) compopt -o dirnames ;;
		:nospace) compopt -o nospace ;;
		*) COMPREPLY+=("${word#"$first"}") ;;
		esac
	done <<<"$answer"
}

complete -F _berth berth kube-scheduler
