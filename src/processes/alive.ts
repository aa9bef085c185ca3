/** Whether a process of this host runs. */
export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // A process of another user exists, and may not be signalled.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
};
