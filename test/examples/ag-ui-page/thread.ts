import { HttpAgent, type Message, type ResumeEntry } from '@ag-ui/client';

/**
 * One thread of the service with AG-UI's own client. The thread is part of the page address: the page loads its
 * history, and pending interrupts with it. AG-UI cannot join a running stream, so the page polls the stored state of
 * such a run until it has ended: new input would pre-empt the run, and the rest of its response would be lost.
 */

const query = new URLSearchParams(location.search);

const newThread = (): string => {
  const id = crypto.randomUUID();
  query.set('thread', id);
  history.replaceState(null, '', `?${query}`);
  return id;
};

const service = query.get('service') ?? 'http://127.0.0.1:38080';

export const agentId = query.get('agent') ?? 'default';

export const agent = new HttpAgent({
  url: `${service}/v1/ag-ui/agents/${agentId}/runs`,
  threadId: query.get('thread') ?? newThread(),
});

/** Executed by the page: the answer of the user is its result. */
export const askUserQuestion = {
  name: 'askUserQuestion',
  description: 'Asks the user a question and waits for the answer.',
  parameters: { type: 'object', properties: { message: { type: 'string' } }, required: ['message'] },
};

/** @param resume decisions on all interrupts of the run */
export const run = async (resume?: ResumeEntry[]): Promise<void> => {
  let failure: string | undefined;
  await agent.runAgent(
    { tools: [askUserQuestion], ...(resume && { resume }) },
    {
      onRunErrorEvent: ({ event }) => {
        failure = event.message;
      },
    },
  );
  if (failure !== undefined) throw new Error(failure);
};

export const say = (content: string): Promise<void> => {
  agent.addMessage({ id: crypto.randomUUID(), role: 'user', content });
  return run();
};

export const answer = (toolCallId: string, content: string): Promise<void> => {
  agent.addMessage({ id: crypto.randomUUID(), role: 'tool', toolCallId, content });
  return run();
};

const request = async (path: string, init?: RequestInit) => {
  const response = await fetch(service + path, init);
  const body = await response.json();
  if (!response.ok) throw new Error(body.error);
  return body;
};

const thread = encodeURIComponent(agent.threadId);

export const stop = async (): Promise<void> => {
  await request(`/v1/ag-ui/threads/${thread}/interrupt`, { method: 'POST' });
};

type Item = Message & { content: { text?: string }[] };
type Ticket = { ticket_id: string; tool_call_id: string; resume_mode: string };

/** `unknown`: not yet checked for an active run. `followed`: another page started the run. */
export type Activity = 'unknown' | 'followed' | 'here' | 'none';

let seen: Exclude<Activity, 'here'> = 'unknown';

export const activity = (): Activity => (agent.isRunning ? 'here' : seen);

/** Shows the stored state until no run is active. */
export const load = async (): Promise<void> => {
  try {
    while (await look()) await new Promise((resolve) => setTimeout(resolve, 500));
  } finally {
    seen = 'none';
  }
};

/** @returns true if a run is active */
const look = async (): Promise<boolean> => {
  // In this order, so that a run that ends in between is polled once more.
  const { active_run } = await request(`/v1/threads/${thread}/runs/active`);
  const { messages } = await request(`/v1/ag-ui/threads/${thread}/messages?order=desc&limit=200`);
  // The user has answered a question of the run, so its stream delivers the rest.
  if (agent.isRunning) return false;
  const isUnderWay = active_run?.status === 'running';
  seen = isUnderWay ? 'followed' : 'none';
  agent.setMessages(
    messages
      .reverse()
      .map((item: Item) => ({ ...item, content: item.content.map(({ text = '' }) => text).join('') })),
  );
  const tickets: Ticket[] = active_run?.waiting?.tickets ?? [];
  agent.pendingInterrupts = tickets
    .filter(({ resume_mode }) => resume_mode === 'replay_tool_call')
    .map(({ ticket_id, tool_call_id }) => ({
      id: ticket_id,
      reason: 'tool_call',
      toolCallId: tool_call_id,
    }));
  return isUnderWay;
};
