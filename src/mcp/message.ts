import type { JSONRPCMessage, JSONRPCRequest } from '@modelcontextprotocol/client';
import { isObject } from '../schema/endpoint.ts';
import { scanJson, startScan } from '../schema/nesting.ts';
import { McpFailure } from './failure.ts';

/** Messages of JSON-RPC as they come from a server. */

/** @throws McpFailure when it holds more than anybody can use */
export const readMessage = (bytes: Buffer): JSONRPCMessage | undefined => {
  const excess = scanJson(startScan(), bytes);
  if (excess !== undefined) throw new McpFailure('unreadable', `the message of the server ${excess}`);
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
  return asMessage(value);
};

/** What the core of the protocol looks into is there; it checks the rest when it uses it. */
export const asMessage = (value: unknown): JSONRPCMessage | undefined => {
  if (!isObject(value) || value.jsonrpc !== '2.0') return undefined;
  const isLegal =
    typeof value.method === 'string'
      ? (value.id === undefined || isId(value.id)) && (value.params === undefined || isObject(value.params))
      : isId(value.id) && (isObject(value.result) || isError(value.error));
  // The line above has looked at every member that all messages of one shape have.
  return isLegal ? (value as JSONRPCMessage) : undefined;
};

const isId = (id: unknown): boolean => typeof id === 'string' || Number.isSafeInteger(id);

const isError = (error: unknown): boolean =>
  isObject(error) && Number.isSafeInteger(error.code) && typeof error.message === 'string';

export type RequestId = string | number;

/** Of a request, which is answered; a notification is not. */
export const idOfRequest = (message: JSONRPCMessage): RequestId | undefined =>
  'method' in message && 'id' in message ? message.id : undefined;

export const isRequest = (message: JSONRPCMessage): message is JSONRPCRequest =>
  idOfRequest(message) !== undefined;

export const idOfResponse = (message: JSONRPCMessage): RequestId | undefined =>
  'method' in message || !('id' in message) ? undefined : message.id;

/** Which request a notification takes back. */
export const cancelledBy = (message: JSONRPCMessage): RequestId | undefined => {
  if (!('method' in message) || message.method !== 'notifications/cancelled') return undefined;
  const id = message.params?.requestId;
  return typeof id === 'string' || typeof id === 'number' ? id : undefined;
};

export const isInitialize = (message: JSONRPCMessage): boolean =>
  'method' in message && message.method === 'initialize';
