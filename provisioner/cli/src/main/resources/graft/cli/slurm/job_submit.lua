-- Written by graft slurm install, and removed by graft slurm uninstall if it is still the same.
local graft = dofile("@FOLDER@/graft.lua")

function slurm_job_submit(job_desc, part_list, submit_uid)
  return graft.job(job_desc, true)
end

function slurm_job_modify(job_desc, job_rec, part_list, modify_uid)
  return graft.job(job_desc, false)
end

return slurm.SUCCESS
