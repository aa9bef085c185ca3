import type { EventStream } from '../../http/sse.ts';
import type { AgUiRequest } from '../../protocols/ag-ui/decode.ts';
import { type AgUiOptions, agUiProtocol } from '../../protocols/ag-ui/encoder.ts';
import { type OpenTickets, openTicketsOf } from '../../protocols/ag-ui/interrupts.ts';
import { knownMessages } from '../../protocols/ag-ui/known.ts';
import type { AgUiBody } from '../../protocols/ag-ui/request.ts';
import { joiningProtocol } from '../../protocols/joining.ts';
import type { Attach, ThreadView } from '../../runtime/index.ts';
import type { WaitingTicket } from '../../schema/run.ts';
import type { Ticket } from '../../schema/run-event.ts';
import { eventsOf } from '../replay.ts';
import type { Rooms } from '../rooms.ts';

/**
 * How the client of a request becomes a reader of its run.
 *
 * A run that stops to wait again names all that it waits for, also what an earlier response has told of
 * (chat-and-agui.md 13.1). Who asked what exactly is in the log of the run; without a log, or before it is written,
 * the record of the run has what is needed to answer. The log is read only when some of its calls stay open.
 */

type Read = {
  scope: string;
  thread_id: string;
  /** As the request was read against it. */
  thread: ThreadView;
  request: Extract<AgUiRequest, { kind: 'input' }>;
  body: Pick<AgUiBody, 'messages' | 'strict'>;
};

export const createAttaching =
  ({ store, ids }: Pick<Rooms, 'store' | 'ids'>) =>
  (stream: EventStream, { scope, thread_id, thread, request, body }: Read): Attach => {
    const { run_id } = thread;
    const { answered, decisions, messages } = request;
    // Decisions of protocols name tickets.
    const decided = new Set(decisions.map(({ tool_call_id }) => tool_call_id));
    // Messages take the place of the answers that are still missing.
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
      const protocol = agUiProtocol(options);
      // Decisions may be for a run that executes, whose stream is under way.
      const isJoining = run_id !== undefined && decisions.length > 0;
      const own = isJoining
        ? joiningProtocol(`ag-ui ${ids.uuid()}`, protocol.createEncoder, { run_id, thread_id })
        : protocol;
      stream.onClose(channel.attach(own, stream));
    };
  };

const ticketsOf = (
  store: Rooms['store'],
  scope: string,
  run_id: string,
  open: readonly WaitingTicket[],
): OpenTickets => {
  if (open.length === 0) return new Map();
  const logged = openTicketsOf(eventsOf(store, scope, { run_id }, 1));
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
