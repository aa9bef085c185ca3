import type { EventStream } from '../../http/sse.ts';
import type { AgUiRequest } from '../../protocols/ag-ui/decode.ts';
import { type AgUiOptions, agUiProtocol } from '../../protocols/ag-ui/encoder.ts';
import { findOpenTickets, type OpenTickets } from '../../protocols/ag-ui/interrupts.ts';
import { knownMessages } from '../../protocols/ag-ui/known.ts';
import type { AgUiBody } from '../../protocols/ag-ui/request.ts';
import { joiningProtocol } from '../../protocols/joining.ts';
import { shownProtocol } from '../../protocols/shown-events.ts';
import type { Attach, ThreadView } from '../../runtime/index.ts';
import type { Principal } from '../../schema/principal.ts';
import type { WaitingTicket } from '../../schema/run.ts';
import type { Ticket } from '../../schema/run-event.ts';
import { readEventsFrom } from '../replay.ts';
import type { RouteDeps } from '../route-deps.ts';

/**
 * Attaches the client of a request to its run.
 *
 * A run that stops to wait again lists all pending interactions, including those that an earlier response reported
 * (chat-and-agui.md 13.1). The log of the run contains their details; without a log, or before it is written, the run
 * record contains enough to resolve them. The log is read only if some of the calls stay open.
 */

type Read = {
  principal: Principal;
  scope: string;
  thread_id: string;
  /** The thread that the request was validated against. */
  thread: ThreadView;
  request: Extract<AgUiRequest, { kind: 'input' }>;
  body: Pick<AgUiBody, 'messages' | 'strict'>;
};

export const createAttaching =
  ({ access, store, ids }: Pick<RouteDeps, 'access' | 'store' | 'ids'>) =>
  (stream: EventStream, { principal, scope, thread_id, thread, request, body }: Read): Attach => {
    const { run_id } = thread;
    const { answered, decisions, messages } = request;
    // In the protocols, decisions refer to tickets.
    const decided = new Set(decisions.map(({ tool_call_id }) => tool_call_id));
    // New messages replace the decisions that are still missing.
    const isOver = messages.some(({ visibility }) => visibility === undefined);
    const open = isOver ? [] : thread.tickets.filter(({ ticket_id }) => !decided.has(ticket_id));
    const waiting = run_id === undefined ? undefined : ticketsOf(store, scope, run_id, open);
    const { strict, messages: sent } = body;
    const options: AgUiOptions = {
      answered,
      strict,
      known: (waits) => knownMessages({ history: thread.history(), sent, added: messages }, waits),
      ...(waiting && { waiting }),
    };
    return (channel) => {
      const shown = access.shownRunEvent(principal, { scope, id: thread_id });
      const protocol = shownProtocol(agUiProtocol(options), shown);
      // Decisions may be for an executing run whose stream is in progress.
      const isJoining = run_id !== undefined && decisions.length > 0;
      const own = isJoining
        ? joiningProtocol(`ag-ui ${ids.uuid()}`, protocol.createEncoder, { run_id, thread_id })
        : protocol;
      stream.onClose(channel.attach(own, stream));
    };
  };

const ticketsOf = (
  store: RouteDeps['store'],
  scope: string,
  run_id: string,
  open: readonly WaitingTicket[],
): OpenTickets => {
  if (open.length === 0) return new Map();
  const logged = findOpenTickets(readEventsFrom(store, scope, { run_id }, 1));
  return new Map(
    open.map((ticket) => [ticket.tool_call_id, logged.get(ticket.tool_call_id) ?? recorded(ticket)]),
  );
};

const recorded = (ticket: WaitingTicket): Ticket => {
  const { ticket_id, tool_call_id, tool_name, arguments: input = null, resume_mode } = ticket;
  const { digest, tickets } = ticket;
  return {
    suspension: { id: ticket_id, action: ticket.reason ?? `tool:${tool_name}`, parameters: input },
    pending: { id: tool_call_id, name: tool_name, arguments: input },
    resume_mode,
    ...(digest !== undefined && { digest }),
    ...(tickets && { tickets }),
  };
};
