import assert from 'node:assert/strict';
import type { Run } from '../../src/schema/run.ts';
import type { Answer, Input, Request } from './client.ts';
import type { Asks } from './requests.ts';
import { openCalls, type ThreadView, type World } from './view.ts';

/**
 * The contract as a model: the response to a request that is made while the service is quiet, and its effect once the
 * service is quiet again. Requests that overlap with others are checked by the general invariants instead.
 */

type Accepted = Extract<Answer, { status: 'accepted' }>;

/** The outcome of a request: its response, and the thread before and after. */
type Case = { request: Request; before: ThreadView; after: ThreadView };

const accepted = ({ request: { name, answer } }: Case): Accepted => {
  assert.equal(answer?.status, 'accepted', `${name} is ${JSON.stringify(answer)}`);
  // The line above asserts this.
  return answer as Accepted;
};

const refused = ({ request: { name, answer } }: Case): void => {
  const found = answer?.status === 'refused' ? answer.code : answer?.status;
  assert.equal(found, 404, `${name} is ${JSON.stringify(answer)}`);
};

const isCancelled = ({ request, after }: Case, run: Pick<Run, 'run_id'> | undefined): void => {
  if (!run) return;
  const type = after.runs.get(run.run_id)?.termination_reason?.type;
  assert.equal(type, 'cancelled', `${request.name}: run ${run.run_id} is to be cancelled`);
};

/** The state of a run, independent of its process or actor. */
const stateOf = (run: Run | undefined) =>
  run && [run.status, run.steps, run.termination_reason, run.waiting?.ticket_ids];

const isUntouched = ({ request, before, after }: Case, run: Pick<Run, 'run_id'> | undefined): void => {
  if (!run) return;
  const [was, is] = [before.runs.get(run.run_id), after.runs.get(run.run_id)];
  assert.deepEqual(stateOf(is), stateOf(was), `${request.name}: run ${run.run_id} is not concerned`);
};

const isNew = (found: Case, how: Accepted['how']): void => {
  const { run_id = '', how: said } = accepted(found);
  assert.ok(!found.before.runs.has(run_id), `${found.request.name}: a new run is to begin`);
  assert.ok(found.after.runs.has(run_id), `${found.request.name}: run ${run_id} is not there`);
  assert.equal(said, how, `${found.request.name}: how`);
};

/** The suspended run continues with the input, and the calls that it waited for are over. */
const continues = (found: Case, run: Run): void => {
  const { run_id, how } = accepted(found);
  assert.equal(run_id, run.run_id, `${found.request.name}: the waiting run is to go on`);
  assert.equal(how, 'running', `${found.request.name}: how`);
  const before = openCalls(run);
  const still = openCalls(found.after.runs.get(run.run_id)).filter((id) => before.includes(id));
  assert.deepEqual(still, [], `${found.request.name}: calls still wait for a decision`);
};

const queues = (found: Case): void => {
  const { before, after, request } = found;
  isNew(found, 'queued');
  isUntouched(found, before.busy);
  const { run_id = '' } = accepted(found);
  assert.deepEqual(after.queued, [...before.queued, run_id], `${request.name}: the queue`);
  assert.equal(after.runs.get(run_id)?.status, 'created', `${request.name}: its run`);
};

/** The input waits for the executing run, and then continues the suspended one. */
const continuesLater = (found: Case, { run_id }: Run): void => {
  const { name } = found.request;
  const answer = accepted(found);
  assert.deepEqual(
    [answer.run_id, answer.how],
    [run_id, 'queued'],
    `${name}: the waiting run is to go on later`,
  );
  assert.ok(found.after.queued.includes(run_id), `${name}: the waiting run is not queued`);
  isUntouched(found, found.before.busy);
};

const matches = (run: Run, agent: string | undefined): boolean =>
  agent === undefined || agent === run.agent_id;

const stopsEverything = (found: Case): void => {
  const { before } = found;
  for (const run of [before.busy, ...before.waiting]) isCancelled(found, run);
  for (const run_id of before.queued) isCancelled(found, { run_id });
};

const onRun = (found: Case, agent: string): void => {
  const { busy, open, queued, waiting } = found.before;
  if (!busy && open && matches(open, agent)) continues(found, open);
  // A run that waits behind another one may continue now or later.
  else if (busy && open) accepted(found);
  else {
    isNew(found, 'running');
    isCancelled(found, busy);
    // A decision on a suspended run is not work that a foreground run replaces.
    const begun = new Set(waiting.map(({ run_id }) => run_id));
    for (const run_id of queued) if (!begun.has(run_id)) isCancelled(found, { run_id });
    if (!busy) isCancelled(found, open);
  }
};

const onQueue = (found: Case, agent: string | undefined, open: Run | undefined): void => {
  const { busy } = found.before;
  if (busy && open && matches(open, agent)) continuesLater(found, open);
  else if (busy) queues(found);
  else if (open && matches(open, agent)) continues(found, open);
  else {
    isNew(found, 'running');
    isUntouched(found, open);
  }
};

const onSteer = (found: Case, { into }: Input, agent: string | undefined, open: Run | undefined): void => {
  const { before, after, request } = found;
  const { busy } = before;
  if (!busy || (into !== undefined && into !== busy.run_id)) onQueue(found, agent, open);
  else {
    const { run_id, how } = accepted(found);
    assert.deepEqual([run_id, how], [busy.run_id, 'running'], `${request.name} is to join the run`);
    assert.equal(after.dispatches.length, before.dispatches.length, `${request.name}: nothing is queued`);
  }
};

const onResume = (found: Case, agent: string | undefined, open: Run | undefined): void => {
  if (!open) refused(found);
  // The effect of input for another agent is not specified.
  else if (!matches(open, agent)) return;
  else if (found.before.busy) continuesLater(found, open);
  else continues(found, open);
};

const onInput = (found: Case, input: Input): void => {
  const { before } = found;
  const { mode, agent, into } = input;
  const named = into === undefined ? agent : before.runs.get(into)?.agent_id;
  const open = before.waiting.find(({ run_id }) => run_id === into) ?? before.open;
  if (mode === 'foreground') onRun(found, agent ?? '');
  else if (mode === 'queue') onQueue(found, named, open);
  else if (mode === 'live_then_queue') onSteer(found, input, named, open);
  else if (mode === 'resume_open_run') onResume(found, named, open);
  else {
    isNew(found, before.busy ? 'queued' : 'running');
    stopsEverything(found);
  }
};

const onCancel = (found: Case, target: 'run' | 'dispatch' | 'thread', named: Run | undefined): void => {
  const { busy, waiting, queued, open, runs, thread } = found.before;
  const meant = target === 'thread' ? (busy ?? open ?? waiting.at(-1) ?? runs.get(queued[0] ?? '')) : named;
  if (!thread || !meant || meant.status === 'done') refused(found);
  else {
    accepted(found);
    isCancelled(found, meant);
    // The next queued run starts when the thread is free.
    const others = waiting.filter((run) => run !== meant && !queued.includes(run.run_id));
    for (const run of others) isUntouched(found, run);
  }
};

const onInterrupt = (found: Case): void => {
  const { busy, waiting, queued, thread } = found.before;
  if (!thread || (!busy && waiting.length === 0 && queued.length === 0)) refused(found);
  else {
    assert.equal(accepted(found).count, queued.length, `${found.request.name}: how many were superseded`);
    stopsEverything(found);
  }
};

const onRemove = (found: Case): void => {
  if (!found.before.thread) refused(found);
  else {
    accepted(found);
    stopsEverything(found);
    assert.ok(!found.after.thread, 'the thread is still there');
    assert.deepEqual(found.after.history, [], 'its messages are still there');
  }
};

type About = { run_id: string; call_id: string; by: string };

const onDecision = (found: Case, { run_id, call_id, by }: About): void => {
  const { before, after, request } = found;
  const run = before.runs.get(run_id);
  // A call may be suspended while others of its step execute, and a client cannot detect when that ends.
  if (run?.status === 'running' && by !== 'nothing') return;
  if (by === 'nothing' || !openCalls(run).includes(call_id)) refused(found);
  else {
    accepted(found);
    const tickets = after.runs.get(run_id)?.waiting?.tickets ?? [];
    const isOpen = tickets.some(({ tool_call_id }) => tool_call_id === call_id);
    if (before.busy) assert.ok(after.queued.includes(run_id), `${request.name}: it is to go on in its turn`);
    else if (!request.name.includes('again')) assert.ok(!isOpen, `${request.name}: the ticket is still open`);
  }
};

/** Checks the outcome of a request that was made, and took effect, while nothing else changed. */
export const judge = (act: Asks, request: Request, [before, after]: [World, World]): void => {
  const [was, is] = [before.get(request.thread), after.get(request.thread)];
  if (!was || !is) return;
  const found: Case = { request, before: was, after: is };
  if (act.do === 'cancel') onCancel(found, act.target, was.runs.get(request.name.split(' ').at(-1) ?? ''));
  else if (act.do === 'interrupt') onInterrupt(found);
  else if (act.do === 'remove') onRemove(found);
  // A decision has the fields of one, and every other request is an input.
  else if (act.do === 'decide') onDecision(found, { ...(request as Request & About), by: act.by });
  else if (act.do === 'message' && !was.thread) refused(found);
  else onInput(found, request as Input);
};
