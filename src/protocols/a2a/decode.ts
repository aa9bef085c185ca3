import { newIdProblem } from '../../schema/id.ts';
import { describeInputProblem, inputProblem } from '../../schema/input-content.ts';
import type { ContentBlock, MessageMetadata } from '../../schema/message.ts';
import type { Principal } from '../../schema/principal.ts';
import type { TraceContext } from '../../schema/trace-context.ts';
import { type InputPart, resolveMediaType, toBlock } from './blocks.ts';
import { parseShape, type SendShape } from './decode-shape.ts';
import { A2aError, errorInfo, invalidRequest, type Violation } from './errors.ts';
import { findSelector } from './selector.ts';

/**
 * Decodes the body of message:send and message:stream (a2a.md 7), or reports all of its problems at once. Ids are not
 * resolved here.
 */

export type DecodedSend = {
  /** From the path or the body. */
  agent_id: string | undefined;
  /** The message id of the client, which need not be unique. */
  message_id: string;
  task_id: string | undefined;
  context_id: string | undefined;
  content: ContentBlock[];
  /** Additional data of the message and the request, which is stored with the message. */
  extras: MessageMetadata['a2a'];
  /** Number of latest messages; undefined means all. */
  history_length: number | undefined;
  returns_at_once: boolean;
  /** Not validated yet. */
  push: unknown;
};

/** A message, and who sent it. */
export type SendRequest = DecodedSend & {
  principal: Principal;
  /** The origin of the request, for the access log. */
  from: { ip: string; route: string };
  /** Trace context for a new task. */
  context?: TraceContext | undefined;
};

/** @throws A2aError 400, 415 */
export const decodeSend = (
  body: unknown,
  { tenant, enforceInputModes = false }: { tenant: string | undefined; enforceInputModes?: boolean },
): DecodedSend => {
  const shape = parseShape(body);
  if ('violations' in shape) throw invalidRequest(shape.violations);
  const { message, configuration } = shape;
  checkOutputModes(configuration?.acceptedOutputModes ?? []);
  if (enforceInputModes) checkInputModes(message.parts);
  const violations = violationsIn(shape, tenant);
  if (violations.length > 0) throw invalidRequest(violations);
  const content = message.parts.map(toBlock);
  const problem = inputProblem(content);
  if (problem)
    throw invalidRequest([violation(`message.parts[${problem.index}]`, describeInputProblem(problem))]);
  const { historyLength, returnImmediately = false } = configuration ?? {};
  return {
    agent_id: tenant ?? findSelector(shape),
    message_id: message.messageId,
    task_id: message.taskId,
    context_id: message.contextId,
    content,
    extras: extrasOf(shape),
    history_length: isLength(historyLength) ? historyLength : undefined,
    returns_at_once: returnImmediately,
    push: configuration?.taskPushNotificationConfig ?? configuration?.pushNotificationConfig,
  };
};

/** Returns undefined if all extras are absent or empty. */
const extrasOf = ({ message, metadata: request_metadata }: SendShape): MessageMetadata['a2a'] => {
  const { metadata, extensions, referenceTaskIds: reference_task_ids } = message;
  const extras = { metadata, extensions, reference_task_ids, request_metadata };
  const present = Object.entries(extras).filter(([, value]) => value && Object.keys(value).length > 0);
  return present.length > 0 ? Object.fromEntries(present) : undefined;
};

const violationsIn = (shape: SendShape, tenant: string | undefined): Violation[] => {
  const { message, configuration } = shape;
  const { role, messageId, parts } = message;
  const selector = findSelector(shape);
  const found: (Violation | false)[] = [
    tenant !== undefined &&
      selector !== undefined &&
      tenant !== selector &&
      violation('tenant', 'path tenant and body tenant must match'),
    role !== 'ROLE_USER' &&
      violation('message.role', 'only ROLE_USER messages are supported for inbound A2A requests'),
    messageId.trim() === '' && violation('message.messageId', 'messageId is required'),
    badId('taskId', message.taskId),
    badId('contextId', message.contextId),
    parts.length === 0 && violation('message.parts', 'at least one part is required'),
    ...parts.map((part, index) => !hasOneContent(part) && violation(`message.parts[${index}]`, ONE_CONTENT)),
    configuration?.historyLength !== undefined &&
      !isLength(configuration.historyLength) &&
      violation('configuration.historyLength', 'historyLength must be a non-negative integer'),
  ];
  return found.filter((each) => each !== false);
};

const ONE_CONTENT = 'each part must contain exactly one of text, raw, url, or data';

const violation = (field: string, description: string): Violation => ({ field, description });

const badId = (name: 'taskId' | 'contextId', id: string | undefined): Violation | false => {
  const problem = id === undefined ? undefined : newIdProblem(name === 'taskId' ? 'run' : 'thread', id);
  return problem !== undefined && violation(`message.${name}`, `${name} ${problem}`);
};

const hasOneContent = ({ text, raw, url, data }: InputPart): boolean =>
  [text, raw, url, data].filter((content) => content !== undefined).length === 1;

const isLength = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

const PRODUCED = ['text/plain', 'text/*', '*/*'];
const TAKEN = ['text/plain', 'application/json'];

const checkOutputModes = (requested: readonly string[]): void => {
  if (requested.length === 0 || requested.some((mode) => PRODUCED.includes(mode.trim().toLowerCase())))
    return;
  throw notSupported('requested output mode is not supported', {
    supportedOutputModes: 'text/plain',
    requestedOutputModes: requested.join(','),
  });
};

const checkInputModes = (parts: readonly InputPart[]): void => {
  const refused = parts.map(resolveMediaType).filter((type) => !TAKEN.includes(type.toLowerCase()));
  if (refused.length === 0) return;
  throw notSupported('input mode is not supported', {
    supportedInputModes: TAKEN.join(','),
    requestedInputModes: refused.join(','),
  });
};

const notSupported = (message: string, metadata: Record<string, string>): A2aError =>
  new A2aError(415, 'INVALID_ARGUMENT', message, {
    details: [errorInfo('CONTENT_TYPE_NOT_SUPPORTED', metadata)],
  });
