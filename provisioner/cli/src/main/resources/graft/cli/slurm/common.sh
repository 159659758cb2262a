# shellcheck shell=sh disable=SC2034
# (SC2034: the scripts use variables that this file only sets.)
# What the scripts of Graft's pool in Slurm have in common. They use a job's number, user number, licences and partition,
# and check each; nothing else that a job's owner can choose is read.

folder=${0%/*} # Slurm runs the scripts by their whole paths; a process less is some milliseconds less
# Sets PATH, CONF, SERVER, CLIENT, STATE, LICENSES, GPUS, CLASS, CLASSES and MEMORY.
# shellcheck source=/dev/null
. "$folder/pool.conf"
export PATH
LC_ALL=C
export LC_ALL
# slurmd names the file for its scripts; slurmctld and cron do not.
if [ -z "${SLURM_CONF-}" ] && [ -r "$CONF" ]; then
  SLURM_CONF=$CONF
  export SLURM_CONF
fi
unset SLURM_TIME_FORMAT SQUEUE_FORMAT SQUEUE_STATES
umask 077

runtime=/run/graft-slurm
tokens=$STATE/tokens

# How long a token outlives its job's end at most, in seconds: Slurm lets a job end later than its time limit by KillWait.
grace=300
# How long the token of a job without a time limit lives; the sweep renews it.
lease=86400

# Slurm keeps nothing of what a script prints.
say() {
  echo "graft: $*" >&2
  logger -t graft-slurm -- "$*" 2>/dev/null || true
}

give_up() {
  say "$*"
  exit 1
}

# is_number TEXT: whether it is a number of a job or a user.
is_number() {
  case $1 in
    '' | *[!0-9]*) return 1 ;;
  esac
  [ ${#1} -le 10 ]
}

# check_job: sets job and user.
check_job() {
  job=${SLURM_JOB_ID-} user=${SLURM_JOB_UID-}
  is_number "$job" || give_up "SLURM_JOB_ID is no number"
  is_number "$user" || give_up "SLURM_JOB_UID is no number"
}

# count_licenses LICENSES: sets licenses to the number of Graft's licences among those of a job, such as "a:1,graft:2".
count_licenses() {
  licenses=0
  set -f
  old=$IFS IFS=','
  for one in $1; do
    case $one in
      graft) licenses=$((licenses + 1)) ;;
      graft:*) if is_number "${one#graft:}"; then licenses=$((licenses + ${one#graft:})); fi ;;
    esac
  done
  IFS=$old
  set +f
}

# print_token: the token of $job and $user. Controller and node compute it from the key that both have, so that it travels
# nowhere. The key is never an argument of a program: other users could see it.
print_token() {
  key=''
  if ! read -r key <"$folder/key" || [ ${#key} != 64 ]; then give_up "$folder/key is no key: copy the controller's"; fi
  inner=$(printf '%s\ngraft-slurm %s %s\n' "$key" "$job" "$user" | sha256sum)
  outer=$(printf '%s\n%s\n' "$key" "$inner" | sha256sum)
  echo "${outer%% *}"
}

# lock_tokens: until the script ends, nobody else changes the tokens file.
lock_tokens() {
  exec 9>>"$STATE/lock"
  flock -w 10 9 || give_up "$STATE/lock is held by another process for more than 10 s"
}

# replace_tokens: puts $tokens.new, which is complete, in the place of the tokens file.
replace_tokens() {
  sync "$tokens.new"
  mv "$tokens.new" "$tokens"
}

# other_tokens: prints the lines of the tokens file that are not $job's.
other_tokens() {
  grep -v "^slurm-$job " "$tokens" || [ $? = 1 ]
}
