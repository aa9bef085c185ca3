import type { Test } from 'tap';
import { z } from 'zod';
import type { Provider } from '../../src/models/model.ts';
import { Conflict, NotFound, Unavailable } from '../../src/schema/outcome.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import { when } from '../http/serve.ts';
import { rowsOf } from './rows.ts';
import { startRuntime, type TestRuntime } from './runtime.ts';
import { createStage } from './scene.ts';

/**
 * All kinds of work at once on threads of one service: runs that execute, are queued, steered, overtaken, cancelled,
 * suspended or driven by a call of another run. Every request is recorded with its response, and compared with the
 * store once all threads are idle.
 */

export const SCOPE = 'default';

const LINE = 'line';
const TAKEN = 'taken';
const WORK = 'work';
const LEFT = 'left';
const THREADS = [LINE, TAKEN, WORK, LEFT];

type Answer = 'accepted' | 'refused' | { failed: unknown };

type Asked = { name: string; answer: Answer | undefined };

type Said = Asked & { thread: string; text: string; isRead: boolean; frames(): string; ended(): boolean };

export type Scene = {
  service: TestRuntime;
  stage: Stage;
  /** Distinguishes the threads of one scene from those of another in the same store. */
  name: string;
  isInOneProcess: boolean;
  said: Said[];
  others: Asked[];
};

/**
 * The model of `work` makes one call that is allowed automatically and one that needs approval; the other models
 * complete slowly.
 */
export const createEverything = () => {
  const slow = createStage();
  const executed: string[] = [];
  const tool = (id: string, needsApproval: boolean) =>
    defineTool({
      id,
      description: id,
      input: z.object({}),
      needsApproval,
      execute(_, { thread_id }) {
        executed.push(`${thread_id} ${id}`);
        return { data: 'done' };
      },
    });
  const provider: Provider = {
    id: 'everything',
    model: (spec) => {
      const staged = slow.provider.model(spec);
      return {
        ...staged,
        provider: 'everything',
        async stream(request, sink, signal) {
          const { messages } = request;
          const works = messages.some(({ content }) =>
            content.some((it) => it.type === 'text' && it.text === WORK),
          );
          const asked = messages.flatMap(({ tool_calls }) => tool_calls ?? []).length;
          const next = works ? ['note', 'risky'][asked] : undefined;
          if (next === undefined) return staged.stream(request, sink, signal);
          sink.toolStart(next, next);
          sink.toolEnd(next, '{}');
          return { stop: 'ToolUse' };
        },
      };
    },
  };
  return { ...slow, provider, tools: [tool('note', false), tool('risky', true)], executed };
};

type Stage = ReturnType<typeof createEverything>;

export const startEverything = async (t: Test, stage: Stage, dir?: string): Promise<TestRuntime> => {
  const settings = { mailbox: { max_attempts: 100, retry_base_ms: 1 } };
  const options = { provider: stage.provider, tools: stage.tools, settings };
  const service = await startRuntime(t, { ...options, ...(dir !== undefined && { dir }) });
  await service.runtime.recover();
  return service;
};

/** The only errors that requests may be rejected with. */
const refusal = (error: unknown): Answer => {
  const isRefusal = [Unavailable, NotFound, Conflict].some((kind) => error instanceof kind);
  return isRefusal ? 'refused' : { failed: error };
};

const answering = async (asked: Asked, answer: Promise<unknown>): Promise<void> => {
  asked.answer = await answer.then((): Answer => 'accepted', refusal);
};

const say = (
  scene: Scene,
  thread: string,
  text: string,
  mode: Parameters<TestRuntime['submit']>[2],
): void => {
  let ended = false;
  const id = `${scene.name} ${thread}`;
  const { accepted, end, frames } = scene.service.submit(text, id, mode);
  end.then(() => {
    ended = true;
  });
  // Input that joins an executing run has no separate stream.
  const isRead = mode !== 'live_then_queue';
  const said: Said = { name: text, thread: id, text, answer: undefined, isRead, frames, ended: () => ended };
  scene.said.push(said);
  answering(said, accepted);
};

const ask = (scene: Scene, name: string, answer: Promise<unknown>): void => {
  const asked: Asked = { name, answer: undefined };
  scene.others.push(asked);
  answering(asked, answer);
};

const APPROVED = { tool_call_id: 'risky', action: 'resume', payload: { approved: true } } as const;

const isAnswered = ({ answer }: Asked): boolean => answer !== undefined;

/** A call that is not repeated, because its caller ends with its process. */
const drive = (scene: Scene): void => {
  const { signal } = new AbortController();
  const call = { scope: SCOPE, run_id: 'parent', thread_id: 'elsewhere', call_id: 'c', signal, onEvent() {} };
  const outcome = scene.service.runtime.subAgents.start({ ...call, agent: 'a', prompt: 'child' });
  ask(scene, 'the run of a call', outcome);
};

/** Resolves when every request has its response; false when the commit that was to fail was never reached. */
export const play = async (scene: Scene): Promise<boolean> => {
  const { service, stage, name, isInOneProcess } = scene;
  const { runtime, store } = service;
  const before = service.refusals();
  const hasFailed = (): boolean => service.refusals() > before;
  say(scene, LINE, 'hello', 'foreground');
  say(scene, TAKEN, 'first', 'foreground');
  say(scene, WORK, WORK, 'foreground');
  say(scene, LEFT, 'left', 'foreground');
  if (isInOneProcess) drive(scene);
  const slow = isInOneProcess ? 4 : 3;
  await when(() => hasFailed() || (stage.waiting() === slow && store.runs.count(SCOPE, 'waiting') === 1));

  say(scene, LINE, 'queued', 'queue');
  say(scene, LINE, 'queued behind', 'queue');
  say(scene, LINE, 'steered', 'live_then_queue');
  say(scene, TAKEN, 'behind', 'queue');
  say(scene, TAKEN, 'second', 'foreground');
  ask(scene, 'the decision', runtime.decide(SCOPE, `${name} ${WORK}`, 'thread', APPROVED));
  ask(scene, 'the cancel', runtime.cancel(SCOPE, `${name} ${LEFT}`, 'thread'));
  await when(() => {
    stage.go();
    return [...scene.said, ...scene.others].every(isAnswered) && (hasFailed() || isAtRest(service));
  });
  return hasFailed();
};

const isAtRest = ({ store }: TestRuntime): boolean =>
  (['created', 'running', 'waiting'] as const).every((status) => store.runs.count(SCOPE, status) === 0) &&
  store.dispatches.open(undefined, 1).length === 0 &&
  store.pending.all(undefined, 1).length === 0;

/** Completes the remaining runs on a working store, with the decisions that they need. */
export const bringToRest = ({ stage }: Scene, service: TestRuntime): Promise<void> => {
  const { runtime, store } = service;
  return when(() => {
    stage.go();
    const waiting = store.runs.list(SCOPE, { status: 'waiting' }, { offset: 0, limit: 10 }).items;
    // By ticket id: a failed commit may have dropped an earlier ticket of the call, so the call id names two.
    for (const { run_id, waiting: wait } of waiting) {
      for (const { ticket_id } of wait?.tickets ?? [])
        runtime.decide(SCOPE, run_id, 'run', { ...APPROVED, tool_call_id: ticket_id }).catch(refusal);
    }
    return isAtRest(service);
  });
};

/** Checks that each stream of an accepted run reports its end once, and that streams of rejected runs are empty. */
export const checkStreams = async (t: Test, { said }: Scene, about: string): Promise<void> => {
  // A row is visible a moment before its subscribers are notified.
  const missing = () =>
    said.filter(({ answer, isRead, ended }) => answer === 'accepted' && isRead && !ended());
  if (missing().length > 0) await when(() => missing().length === 0);
  for (const { text, answer, frames, ended, isRead } of said) {
    if (answer === 'refused' && frames() !== '') t.fail(`${about}: '${text}' was refused, and has a stream`);
    if (answer !== 'accepted' || !isRead) continue;
    const ends = frames().match(/"run_finish"/g)?.length ?? 0;
    if (ends !== 1 || !ended()) t.fail(`${about}: the stream of '${text}' has ${ends} ends: ${frames()}`);
  }
};

/** Checks that accepted work is stored once, that rejected work is not stored, and that nothing was executed twice. */
export const checkRows = (
  t: Test,
  { said, others, stage, name }: Scene,
  service: TestRuntime,
  about: string,
): void => {
  for (const { name, answer } of [...said, ...others])
    if (typeof answer === 'object') t.fail(`${about}: '${name}' failed`, { error: answer.failed });
  for (const { text, thread, answer } of said) {
    const found = rowsOf(service, thread).said();
    const kept = found.filter((each) => each === text).length;
    const expected = answer === 'accepted' ? 1 : 0;
    if (kept !== expected) t.fail(`${about}: '${text}' was ${answer}, and is stored ${kept} times`);
  }
  for (const call of ['note', 'risky']) {
    const times = stage.executed.filter((each) => each === `${name} ${WORK} ${call}`).length;
    if (times > 1) t.fail(`${about}: '${call}' was executed ${times} times`);
  }
  for (const thread of THREADS) rowsOf(service, `${name} ${thread}`).check(t);
};

/** Checks that every thread accepts and completes another run. */
export const goOn = async (
  t: Test,
  { stage, name }: Scene,
  service: TestRuntime,
  about: string,
): Promise<void> => {
  const next = THREADS.map((thread) => ({ thread, ...service.submit('and on', `${name} ${thread}`) }));
  let ended = false;
  Promise.all(next.map(({ end }) => end)).then(() => {
    ended = true;
  });
  await Promise.all(next.map(({ accepted }) => accepted));
  await when(() => {
    stage.go();
    return ended;
  });
  for (const { thread, frames } of next)
    if (!/"run_finish".*"natural_end"/.test(frames()))
      t.fail(`${about}: ${thread} does not continue: ${frames()}`);
};
