# shellcheck shell=bash
# Whose runs an experiment is about, and that nobody else trains them: what science.sh and reproduce.sh share. Sourced at
# the top of the tree.

# text_in FILE KEY: a text of an experiment's file, however its lines are broken; nothing if it has none. Within a text such a
# key would have its quotes escaped.
text_in() { tr '\n' ' ' <"$1" | sed -n "s/^\(.*[^\\\\]\)\{0,1\}\"$2\" *: *\"\([^\"]*\)\".*/\2/p"; }

# Itself, unless it names another one.
runs_of() { # NAME
  local other
  other=$(text_in "experiments/$1.json" runs)
  echo "${other:-$1}"
}

# Held until release_runs, or as long as the script or a training below it lives.
hold_runs() { # HOME NAME OPTION_OF_FLOCK...
  exec {runs_lock}>"$1/$(runs_of "$2").lock"
  flock "${@:3}" "$runs_lock"
}

release_runs() { exec {runs_lock}>&-; }
