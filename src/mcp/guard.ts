import { startProgram } from '../processes/start.ts';

/**
 * Ensures that a child does not outlive this process. A killed process runs no more code, but its pipes close, and a
 * shell that reads one of them notices that. It gives the child the usual time to end, and then kills its group.
 *
 * Cost: one small process per child. Without a shell, the child must notice the end of its pipes itself.
 */
const SCRIPT = 'while read -r _; do :; done; sleep 2; kill -s TERM -- "-$1"; sleep 2; kill -s KILL -- "-$1"';

/** Returns a function that stops the guard. */
export const guardGroup = (pid: number): (() => void) => {
  // It has a separate group, so signals to the group of this process, such as an interrupt, do not reach it.
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
