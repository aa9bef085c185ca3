import { eventStream } from '../../http/described.ts';
import type { Route } from '../../http/route.ts';
import { createEventStream } from '../../http/sse.ts';
import { decodeAgUi } from '../../protocols/ag-ui/decode.ts';
import { AgUiEvent } from '../../protocols/ag-ui/events.ts';
import { frame } from '../../protocols/ag-ui/frames.ts';
import { agUiReplay } from '../../protocols/ag-ui/replay.ts';
import { AgUiBody } from '../../protocols/ag-ui/request.ts';
import { toDescriptor } from '../../protocols/frontend-tool.ts';
import { newMessages } from '../../protocols/new-messages.ts';
import { checkedOutputSchema } from '../../schema/output.ts';
import { type Addressing, createAddressing } from '../addressing.ts';
import { type Client, runRoutes, startsRun, submitRequest } from '../protocol-runs.ts';
import type { RouteDeps } from '../route-deps.ts';
import { createRunAgain } from '../run-again.ts';
import { createAttaching } from './attaching.ts';

/** The routes that start or continue a run in AG-UI (chat-and-agui.md 11). */

export const agUiRunRoutes = (deps: RouteDeps): Route[] =>
  runRoutes(
    { root: '/v1/ag-ui/run', under: '/v1/ag-ui', name: 'AgUi' },
    startsRun(
      'AG-UI',
      AgUiBody,
      eventStream(AgUiEvent, 'events of AG-UI, until `RUN_FINISHED` or `RUN_ERROR`'),
    ),
    { run: createAgUiRun(deps, createAddressing(deps)), again: createRunAgain(deps, agUiReplay) },
  );

/** The run continues if its client disconnects or stops reading. */
const createAgUiRun = (deps: RouteDeps, { threadOf, agentFor, readingOf }: Addressing) => {
  const attaching = createAttaching(deps);
  return async (client: Client, body: AgUiBody) => {
    const place = threadOf(client.principal, body.thread_id);
    const { scope, id: thread_id } = place;
    const output_schema = checkedOutputSchema(body.output_schema);
    const agent = await agentFor(client.principal, place, body.agent_id);
    const named = body.agent_id === undefined ? undefined : agent.spec.id;
    const stream = createEventStream({ reading: readingOf(client.principal, place, named) });
    const isSubmitted = await submitRequest(deps, {
      ...client,
      thread: place,
      agent,
      named: body.agent_id !== undefined,
      adapter: 'ag_ui',
      read(thread) {
        const request = decodeAgUi(body, thread);
        if (request.kind === 'stale') return undefined;
        const { messages, decisions } = request;
        const frontend_tools = body.tools.map(toDescriptor);
        const attach = attaching(stream, {
          principal: client.principal,
          scope,
          thread_id,
          thread,
          request,
          body,
        });
        const roles = newMessages(body.messages, thread.has).map(({ role }) => role);
        return { messages, decisions, roles, frontend_tools, output_schema, attach };
      },
    });
    if (!isSubmitted) {
      stream.write(frame('RUN_ERROR', { message: 'no run of the thread waits for this answer' }));
      stream.end();
    }
    return stream;
  };
};
