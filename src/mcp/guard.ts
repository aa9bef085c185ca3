import { startProgram } from '../processes/start.ts';

/**
 * Outlives this process to see that a child does not. A process that is killed outright runs no code any more; its
 * pipes close, though, and a shell that reads one of them notices. It gives the child the time that it would have had
 * anyway, and then kills its group.
 *
 * Costs a small process a child. Where there is no shell the child is left to notice its own pipes.
 */
const SCRIPT = 'while read -r _; do :; done; sleep 2; kill -s TERM -- "-$1"; sleep 2; kill -s KILL -- "-$1"';

/** Returns what calls it off. */
export const guardGroup = (pid: number): (() => void) => {
  // In a group of its own: signals to the group of this process, such as an interrupt, do not reach it.
  const guard = startProgram({
    file: '/bin/sh',
    args: ['-c', SCRIPT, 'sh', String(pid)],
    env: {},
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  guard.on('error', () => {});
  guard.stdin.on('error', () => {});
  guard.unref();
  return () => {
    guard.kill('SIGKILL');
  };
};
