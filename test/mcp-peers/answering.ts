import { type Asked, type Message, RpcError, type Script } from './script.ts';

/** Turns the handlers of a script into answers on some line to a client. */

type Line = { send(message: object): void };

/** What the client still has to answer, by the id of what it was asked. */
export type Pending = Map<string | number, (answer: Message) => void>;

let ids = 0;

const askedOf = (message: Message, line: Line, pending: Pending): Asked => ({
  // Only requests get here, and they have one.
  id: message.id ?? '',
  params: message.params ?? {},
  send: line.send,
  notify: (method, params) => line.send({ jsonrpc: '2.0', method, ...(params && { params }) }),
  request: (method, params) =>
    new Promise((resolve) => {
      ids += 1;
      const id = `of-the-peer-${ids}`;
      pending.set(id, resolve);
      line.send({ jsonrpc: '2.0', id, method, ...(params && { params }) });
    }),
});

/** @returns the answer, if the script gives one */
export const answerOf = async <More extends object>(
  script: Script<More>,
  message: Message,
  line: Line,
  pending: Pending,
  more: More,
): Promise<object | undefined> => {
  const { id, method = '' } = message;
  try {
    const handler = script[method];
    if (!handler) throw new RpcError(-32601, `Method not found: ${method}`);
    const result = await handler({ ...askedOf(message, line, pending), ...more });
    return result === undefined ? undefined : { jsonrpc: '2.0', id, result };
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    return { jsonrpc: '2.0', id, error: { code: error.code, message: error.message } };
  }
};

/** A request asks for an answer; anything else is told to the script, if it wants to know. */
export const isRequest = ({ id, method }: Message): boolean => id != null && method !== undefined;

/** @returns whether the message answers something that the client was asked */
export const settles = (pending: Pending, message: Message): boolean => {
  const { id, method } = message;
  if (method !== undefined || id == null) return false;
  pending.get(id)?.(message);
  return pending.delete(id);
};
