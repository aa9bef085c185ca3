import fc from 'fast-check';
import t, { type Test } from 'tap';
import { z } from 'zod';
import { NO_RECORDS } from '../../src/configuration/records.ts';
import { AgentSpec } from '../../src/schema/agent.ts';
import { digestOfCall } from '../../src/schema/call-digest.ts';
import type { Json } from '../../src/schema/json.ts';
import type { Run, TicketBelow, WaitingTicket } from '../../src/schema/run.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import { LONG } from '../long.ts';
import { asks, type Call, type Inference } from '../service/models.ts';
import { startTroupe } from '../service/troupe.ts';

/**
 * Consent as a property (runtime.md 12): whatever decisions are sent, by whatever protocol, repeated, concurrently or
 * after a restart, a call is executed at most once for each ticket that showed exactly this call and was approved. The
 * model reuses the ids of its calls, but each call has unique arguments, so an execution identifies its call.
 */

const SURFACES = ['native', 'chat', 'ag-ui', 'a2a'] as const;
const WORDS: readonly Json[] = [
  { approved: true },
  { approved: false },
  null,
  {},
  'no',
  { approved: 'true' },
  { accepted: true },
];

/** A request about one of the tickets shown so far, latest first. */
type Step = {
  surface: (typeof SURFACES)[number];
  ticket: number;
  by: 'ticket' | 'call' | 'below' | 'old call';
  payload: Json;
  digest: 'none' | 'own' | 'other';
  cancels: boolean;
  output: boolean;
  restarts: boolean;
  repeats: boolean;
  onChild: boolean;
};

const stepArbitrary: fc.Arbitrary<Step> = fc.record({
  surface: fc.constantFrom(...SURFACES),
  ticket: fc.nat(12),
  by: fc.constantFrom<Step['by'][]>('ticket', 'ticket', 'call', 'below', 'old call'),
  payload: fc.oneof(
    { weight: 3, arbitrary: fc.constant<Json>({ approved: true }) },
    { weight: 2, arbitrary: fc.constantFrom(...WORDS) },
  ),
  digest: fc.constantFrom<Step['digest'][]>('none', 'none', 'own', 'other'),
  cancels: fc.nat(4).map((value) => value === 0),
  output: fc.nat(4).map((value) => value === 0),
  restarts: fc.nat(9).map((value) => value === 0),
  repeats: fc.nat(2).map((value) => value === 0),
  onChild: fc.nat(3).map((value) => value === 0),
});

/** A ticket as a client has seen it, with the calls that it shows. */
type Shown = { thread: string; run_id: string; ticket: WaitingTicket; calls: string[]; below: TicketBelow[] };

const IDS = ['call_0', 'call_0', 'call_1', 'perm_call_0'];

const createScene = async (t: Test, agent: 'solo' | 'parent') => {
  const executed: string[] = [];
  let made = 0;
  const tool = (id: string) =>
    defineTool({
      id,
      description: 'Records.',
      input: z.object({ note: z.string() }),
      needsApproval: true,
      execute({ note }) {
        executed.push(digestOfCall({ tool: id, arguments: { note } }));
        return { data: note };
      },
    });
  const agents = [{ id: 'solo' }, { id: 'parent', delegates: ['child'] }, { id: 'child' }].map((each) =>
    AgentSpec.parse({ model_id: 'steps', max_rounds: 30, ...each }),
  );
  const troupe = await startTroupe(t, {
    settings: { storage_dir: t.testdir() },
    app: { tools: [tool('read'), tool('write')], records: { ...NO_RECORDS, agents } },
  });
  const note = (): Call => {
    made += 1;
    return [IDS[made % IDS.length] ?? 'call_0', made % 2 ? 'read' : 'write', { note: `note ${made}` }];
  };
  /** One or two calls with different ids, or a delegation. */
  const next = (delegates: boolean): Inference => {
    if (delegates) return asks(['call_0', 'agent_run_child', { prompt: 'x' }]);
    const [first, second] = [note(), note()];
    return first[0] === second[0] || made % 3 === 0 ? asks(first) : asks(first, second);
  };
  const script = (): void => {
    troupe.models.steps.splice(0);
    if (agent === 'parent') troupe.models.steps.push(next(true));
    for (let index = 0; index < 40; index += 1) troupe.models.steps.push(next(false));
  };
  script();
  return { troupe, executed, agent };
};

type Scene = Awaited<ReturnType<typeof createScene>>;

const shownIn = (run: Run): Shown[] =>
  (run.waiting?.tickets ?? []).map((ticket) => ({
    thread: run.thread_id,
    run_id: run.run_id,
    ticket,
    below: [...(ticket.tickets ?? [])],
    calls: ticket.tickets
      ? ticket.tickets.map(({ tool, arguments: args }) => digestOfCall({ tool, arguments: args }))
      : [digestOfCall({ tool: ticket.tool_name, arguments: ticket.arguments ?? null })],
  }));

/** All tickets that runs of the service currently show. */
const look = async ({ troupe }: Scene): Promise<Shown[]> => {
  const { body } = await troupe.call('GET', '/v1/runs?limit=200');
  return (body as { items: Run[] }).items.flatMap(shownIn);
};

const nameOf = ({ by }: Step, { ticket, below }: Shown): string => {
  if (by === 'below') return below[0]?.id ?? ticket.ticket_id;
  return by === 'ticket' ? ticket.ticket_id : by === 'call' ? ticket.tool_call_id : 'call_0';
};

const digestFor = (step: Step, { ticket, below }: Shown): string | undefined => {
  if (step.digest === 'none') return undefined;
  if (step.digest === 'other') return '0'.repeat(64);
  return step.by === 'below' ? (below[0]?.digest ?? ticket.digest) : ticket.digest;
};

const bodyOf = (step: Step, shown: Shown): { path: string; body: object } => {
  const { thread, run_id, ticket } = shown;
  const id = nameOf(step, shown);
  const digest = digestFor(step, shown);
  const fields = typeof step.payload === 'object' ? step.payload : { value: step.payload };
  switch (step.surface) {
    case 'native': {
      const place = step.onChild ? `runs/${run_id}` : `threads/${thread}`;
      const action = step.cancels ? 'cancel' : 'resume';
      return {
        path: `/v1/${place}/decision`,
        body: { toolCallId: id, action, payload: step.payload, digest },
      };
    }
    case 'chat': {
      const approval = { ...fields, id, ...(digest && { digest }) };
      const part = step.output
        ? { state: 'output-available', output: step.payload, toolCallId: id }
        : { state: 'approval-responded', approval, toolCallId: ticket.tool_call_id };
      const parts = [{ type: `tool-${ticket.tool_name}`, input: ticket.arguments, ...part }];
      const messages = [{ id: 'a1', role: 'assistant', parts }];
      return { path: '/v1/ai-sdk/chat', body: { threadId: thread, messages } };
    }
    case 'ag-ui': {
      const message = { id: `t-${id}`, role: 'tool', toolCallId: id, content: JSON.stringify(step.payload) };
      const entry = {
        interruptId: id,
        status: step.cancels ? 'cancelled' : 'resolved',
        payload: step.payload ?? undefined,
        ...(digest && { metadata: { digest } }),
      };
      const base = { threadId: thread, runId: 'r', tools: [], context: [], state: {}, forwardedProps: {} };
      const body = step.output
        ? { ...base, messages: [message] }
        : { ...base, messages: [], resume: [entry] };
      return { path: '/v1/ag-ui/run', body };
    }
    case 'a2a': {
      const message = {
        messageId: `m-${id}`,
        role: 'ROLE_USER',
        taskId: run_id,
        parts: [{ text: 'approved: true' }],
      };
      return { path: '/v1/a2a/message:send', body: { message, configuration: { returnImmediately: true } } };
    }
  }
};

/** The calls that a request consents to, according to what its sender was shown. */
const consentOf = (step: Step, shown: readonly Shown[], target: Shown): string[] => {
  const { surface, payload } = step;
  const isYes =
    typeof payload === 'object' && payload !== null && !Array.isArray(payload) && payload.approved === true;
  const states = isYes || (surface === 'native' && payload === null);
  if (surface === 'a2a' || (surface !== 'native' && step.output) || !states) return [];
  if (step.cancels && surface !== 'chat') return [];
  const id = nameOf(step, target);
  const here = shown.filter(({ thread }) => thread === target.thread);
  const named = here.filter(({ ticket }) => ticket.ticket_id === id);
  const below = here.flatMap((each) => each.below.filter((one) => one.id === id).map(({ digest }) => digest));
  const ofCall = here.filter(({ ticket }) => ticket.tool_call_id === id);
  // A chat part whose call has the same id means that call, even if an earlier ticket has the id.
  const isOfPart = surface === 'chat' && id === target.ticket.tool_call_id;
  if (named.length > 0 && !isOfPart) return named.flatMap(({ calls }) => calls);
  return [...below, ...ofCall.flatMap(({ calls }) => calls)];
};

const send = async ({ troupe }: Scene, step: Step, target: Shown): Promise<void> => {
  const { path, body } = bodyOf(step, target);
  const request = () =>
    fetch(`${troupe.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
      body: JSON.stringify(body),
    }).then(async (response) => {
      await response.text();
      if (response.status >= 500) throw new Error(`${path} answers ${response.status}`);
    });
  await Promise.all(step.repeats ? [request(), request()] : [request()]);
};

const settled = async (scene: Scene): Promise<Shown[]> => {
  for (let tries = 0; ; tries += 1) {
    const { body } = await scene.troupe.call('GET', '/v1/runs?limit=200');
    const { items } = body as { items: Run[] };
    const isBusy = items.some(({ status }) => status === 'running' || status === 'created');
    if (!isBusy || tries > 400) return items.flatMap(shownIn);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
};

const play = async (t: Test, agent: 'solo' | 'parent', steps: readonly Step[]): Promise<void> => {
  const scene = await createScene(t, agent);
  const { troupe, executed } = scene;
  const begin = () =>
    troupe.runToEnd({ agentId: agent, threadId: 'T', messages: [{ role: 'user', content: 'go' }] });
  await begin();
  const shown: Shown[] = [];
  const consented: string[] = [];
  const meet = (found: readonly Shown[]): void => {
    const known = new Set(shown.map(({ run_id, ticket }) => `${run_id} ${ticket.ticket_id}`));
    shown.push(...found.filter(({ run_id, ticket }) => !known.has(`${run_id} ${ticket.ticket_id}`)));
  };
  meet(await settled(scene));
  for (const step of steps) {
    if (step.restarts) await troupe.restart();
    const target = shown[Math.max(0, shown.length - 1 - (step.ticket % Math.max(1, shown.length)))];
    if (!target) break;
    consented.push(...consentOf(step, shown, target));
    await send(scene, step, target);
    const open = await settled(scene);
    meet(open);
    if (open.length === 0) await begin().then(async () => meet(await look(scene)));
    for (const call of executed)
      if (!consented.includes(call)) throw new Error(`executed without consent: ${JSON.stringify(step)}`);
    if (new Set(executed).size !== executed.length) throw new Error('a call was executed twice');
  }
};

for (const agent of ['solo', 'parent'] as const) {
  t.test(`executes no call of ${agent} without consent to exactly this call`, async (t) => {
    let number = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(stepArbitrary, { minLength: 12, maxLength: LONG ? 40 : 16 }),
        async (steps) => {
          number += 1;
          await t.test(`sequence ${number}`, (t) => play(t, agent, steps));
        },
      ),
      { numRuns: LONG ? 200 : 8, endOnFailure: true },
    );
  });
}
