-- Translates --gres=graft:N of a job into N licences of Graft's pool: Slurm counts a GRES for each node, but the pool's GPUs
-- belong to no node. The GRES stays, so that the job gets nodes that have the client; it is not consumed.
local most = @MOST@ -- licences of one job

-- The sum of the counts of the entries that begin with one of the names, and the other entries. An entry without a
-- count stands for one; no_consume and types between name and count are skipped.
local function take(text, names)
  local count, others = 0, {}
  for entry in string.gmatch(text or "", "[^,;]+") do
    local rest
    for _, name in ipairs(names) do
      if entry == name or string.sub(entry, 1, #name + 1) == name .. ":" then
        rest = string.sub(entry, #name + 2)
      end
    end
    if rest == nil then
      table.insert(others, entry)
    elseif rest == "" then
      count = count + 1
    else
      count = count + (tonumber(string.match(rest, "(%d+)$")) or 1)
    end
  end
  return count, others
end

-- is_new: whether the job is submitted, and not changed. A change has what changes alone.
local function job(job_desc, is_new)
  local gpus = take(job_desc.tres_per_node, {"gres:graft", "gres/graft", "graft"})
  local licenses, others = take(job_desc.licenses, {"graft"})
  if gpus == 0 and licenses == 0 then
    return slurm.SUCCESS
  end
  local count = math.max(gpus, licenses)
  if count > most then
    slurm.log_user(string.format(
      "graft: the job asks for %d, and a job can have %d at most", count, most))
    return slurm.ESLURM_INVALID_LICENSES
  end
  table.insert(others, "graft:" .. count)
  job_desc.licenses = table.concat(others, ",")
  if gpus == 0 and is_new then
    local before = job_desc.tres_per_node or ""
    job_desc.tres_per_node = before .. (before == "" and "" or ",") .. "gres:graft:" .. count
  end
  return slurm.SUCCESS
end

return {job = job}
