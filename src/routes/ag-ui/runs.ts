import { eventStream } from '../../http/described.ts';
import type { Route } from '../../http/route.ts';
import { createEventStream } from '../../http/sse.ts';
import { decodeAgUi } from '../../protocols/ag-ui/decode.ts';
import { AgUiEvent } from '../../protocols/ag-ui/events.ts';
import { frame } from '../../protocols/ag-ui/frames.ts';
import { AgUiBody } from '../../protocols/ag-ui/request.ts';
import { descriptorOf } from '../../protocols/frontend-tool.ts';
import { newMessages } from '../../protocols/new-messages.ts';
import { checkedOutputSchema } from '../../schema/output.ts';
import { type Addressing, createAddressing } from '../addressing.ts';
import { type Client, runRoutes, startsRun, submitRequest } from '../protocol-runs.ts';
import type { Rooms } from '../rooms.ts';
import { createAttaching } from './attaching.ts';

/** The routes that start a run in AG-UI, or go on with one (chat-and-agui.md 11). */

export const agUiRunRoutes = (rooms: Rooms): Route[] =>
  runRoutes(
    { root: '/v1/ag-ui/run', under: '/v1/ag-ui', name: 'AgUi' },
    startsRun(
      'AG-UI',
      AgUiBody,
      eventStream(AgUiEvent, 'events of AG-UI, until `RUN_FINISHED` or `RUN_ERROR`'),
    ),
    createAgUiRun(rooms, createAddressing(rooms)),
  );

/** A client that goes away, or does not read, is a reader less; the run goes on. */
const createAgUiRun = (rooms: Rooms, { threadOf, agentFor }: Addressing) => {
  const attaching = createAttaching(rooms);
  return async (client: Client, body: AgUiBody) => {
    const { scope } = client;
    const thread_id = threadOf(body.thread_id);
    const output_schema = checkedOutputSchema(body.output_schema);
    const stream = createEventStream();
    const isAsked = await submitRequest(rooms, {
      ...client,
      thread_id,
      agent: agentFor(scope, thread_id, body.agent_id),
      named: body.agent_id !== undefined,
      adapter: 'ag_ui',
      read(thread) {
        const request = decodeAgUi(body, thread);
        if (request.kind === 'stale') return undefined;
        const { messages, decisions } = request;
        const frontend_tools = body.tools.map(descriptorOf);
        const attach = attaching(stream, { scope, thread_id, thread, request, body });
        const roles = newMessages(body.messages, thread.has).map(({ role }) => role);
        return { messages, decisions, roles, frontend_tools, output_schema, attach };
      },
    });
    if (!isAsked) {
      stream.write(frame('RUN_ERROR', { message: 'no run of the thread waits for this answer' }));
      stream.end();
    }
    return stream;
  };
};
