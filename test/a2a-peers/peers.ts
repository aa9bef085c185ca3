import { ListTasksRequest, Part, type Task, TaskState } from '@a2a-js/sdk';
import { InMemoryTaskStore, ServerCallContext } from '@a2a-js/sdk/server';
import type { Test } from 'tap';
import { type Says, type Script, startSdkAgent } from '../a2a/remote/sdk-agent.ts';
import type { Python } from '../interop/python.ts';
import { freePort } from '../ports.ts';

/**
 * One agent, implemented with the servers of both SDKs (`interop/a2a-python/server.py` is the other half). The message
 * selects its answer: `ask`, `auth`, `reject`, `fail`, `message`, `file`, `slow`, and anything else.
 */

/** Requests without it are rejected. */
export const TOKEN = 'token-of-the-peer';

export type SdkPeer = {
  base_url: string;
  /** The messages that it has received since its creation. */
  sent: string[];
  /** Lets one `slow` answer continue. */
  go(): Promise<void>;
  /** Stops it at once, whatever it is doing. */
  kill(): Promise<void>;
  /** Starts it again at the same address. */
  restart(): Promise<void>;
};

const RESPONSES: Record<string, (says: Says) => void> = {
  ask: (says) => says.status('INPUT_REQUIRED', 'Which colour?'),
  auth: (says) => says.status('AUTH_REQUIRED', 'Log in first'),
  reject: (says) => says.status('REJECTED', 'not my job'),
  fail: (says) => says.status('FAILED', 'out of sheep'),
};

/** Its tasks survive a restart, and unfinished ones continue afterwards. */
export const jsPeer = async (t: Test): Promise<SdkPeer> => {
  const sent: string[] = [];
  const store = new InMemoryTaskStore();
  const waiting: (() => void)[] = [];
  const lost: string[] = [];

  const script: Script = async (says, text) => {
    sent.push(text);
    if (text === 'message') return says.message('at once');
    says.status('WORKING');
    const respond = RESPONSES[text];
    if (respond) return respond(says);
    if (text === 'file')
      says.part({
        raw: Buffer.from('wool').toString('base64'),
        mediaType: 'text/plain',
        filename: 'sheep.txt',
      });
    else if (text === 'slow') {
      says.artifact('one ', { append: false });
      await new Promise<void>((resolve) => waiting.push(resolve));
      says.artifact('two', { append: true, lastChunk: true });
    } else says.artifact(`${text} it is`);
    says.status('COMPLETED');
  };

  /** Continues an unfinished task after a restart. */
  const finish = async (id: string): Promise<void> => {
    const context = new ServerCallContext({});
    const task = await store.load(id, context);
    if (!task) throw new Error(`there is no task ${id}`);
    const artifacts = task.artifacts.map((artifact) => ({ ...artifact, parts: partsOf('one two') }));
    await store.save({ ...task, artifacts, status: COMPLETED }, context);
  };

  let agent = await startSdkAgent(t, script, { store, token: TOKEN, port: await freePort() });
  return {
    base_url: agent.base_url,
    sent,
    async go() {
      const id = lost.shift();
      if (id !== undefined) return finish(id);
      waiting.shift()?.();
    },
    async kill() {
      agent.stop();
      waiting.length = 0;
      const { tasks } = await store.list(ALL, new ServerCallContext({}));
      lost.push(...tasks.filter(({ status }) => status?.state === WORKING).map(({ id }) => id));
    },
    async restart() {
      agent = await startSdkAgent(t, script, { store, token: TOKEN, port: agent.port });
    },
  };
};

const WORKING = TaskState.TASK_STATE_WORKING;

const COMPLETED: Task['status'] = {
  state: TaskState.TASK_STATE_COMPLETED,
  message: undefined,
  timestamp: undefined,
};

const ALL = ListTasksRequest.fromJSON({});

const partsOf = (text: string) => [Part.fromJSON({ text })];

/** Its tasks are lost when it stops. */
export const pythonPeer = async (t: Test, { start }: Python): Promise<SdkPeer> => {
  const sent: string[] = [];
  const begin = async (port: number) => {
    const program = start(t, 'server.py', [String(port)]);
    const lines = program.lines();
    const { value: first } = await lines.next();
    void (async () => {
      for await (const line of lines) sent.push(String(line.sent));
    })();
    return { ...program, port: Number(first?.port) };
  };
  let program = await begin(await freePort());
  return {
    base_url: `http://127.0.0.1:${program.port}/a2a`,
    sent,
    async go() {
      program.child.stdin.write('\n');
    },
    kill: () => program.kill(),
    async restart() {
      program = await begin(program.port);
    },
  };
};
