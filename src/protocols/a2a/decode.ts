import { newIdProblem } from '../../schema/id.ts';
import { describeInputProblem, inputProblem } from '../../schema/input-content.ts';
import type { ContentBlock, MessageMetadata } from '../../schema/message.ts';
import type { TraceContext } from '../../schema/trace-context.ts';
import { blockOf, type InputPart, typeOf } from './blocks.ts';
import { parseShape, type SendShape } from './decode-shape.ts';
import { A2aError, errorInfo, invalidRequest, type Violation } from './errors.ts';
import { selectorOf } from './selector.ts';

/**
 * The body of message:send and message:stream (a2a.md 7): what is asked for, or all that is wrong with it at once.
 * Nothing is looked up here.
 */

export type SendRequest = {
  /** Of the path, or of the body. */
  agent_id: string | undefined;
  /** What the client calls its message; need not be unique. */
  message_id: string;
  task_id: string | undefined;
  context_id: string | undefined;
  content: ContentBlock[];
  /** What came with the message and the request, and is kept with the message. */
  extras: MessageMetadata['a2a'];
  /** The latest so many messages; undefined is all of them. */
  history_length: number | undefined;
  returns_at_once: boolean;
  /** Not looked at yet. */
  push: unknown;
  /** Whose trace a task belongs to that it begins. */
  context?: TraceContext | undefined;
};

/** @throws A2aError 400, 415 */
export const decodeSend = (
  body: unknown,
  { tenant, enforceInputModes = false }: { tenant: string | undefined; enforceInputModes?: boolean },
): SendRequest => {
  const shape = parseShape(body);
  if ('violations' in shape) throw invalidRequest(shape.violations);
  const { message, configuration } = shape;
  checkOutputModes(configuration?.acceptedOutputModes ?? []);
  if (enforceInputModes) checkInputModes(message.parts);
  const violations = violationsIn(shape, tenant);
  if (violations.length > 0) throw invalidRequest(violations);
  const content = message.parts.map(blockOf);
  const problem = inputProblem(content);
  if (problem)
    throw invalidRequest([violation(`message.parts[${problem.index}]`, describeInputProblem(problem))]);
  const { historyLength, returnImmediately = false } = configuration ?? {};
  return {
    agent_id: tenant ?? selectorOf(shape),
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

/** Undefined where nothing came; what is empty says nothing. */
const extrasOf = ({ message, metadata: request_metadata }: SendShape): MessageMetadata['a2a'] => {
  const { metadata, extensions, referenceTaskIds: reference_task_ids } = message;
  const extras = { metadata, extensions, reference_task_ids, request_metadata };
  const said = Object.entries(extras).filter(([, value]) => value && Object.keys(value).length > 0);
  return said.length > 0 ? Object.fromEntries(said) : undefined;
};

const violationsIn = (shape: SendShape, tenant: string | undefined): Violation[] => {
  const { message, configuration } = shape;
  const { role, messageId, parts } = message;
  const selector = selectorOf(shape);
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

const checkOutputModes = (asked: readonly string[]): void => {
  if (asked.length === 0 || asked.some((mode) => PRODUCED.includes(mode.trim().toLowerCase()))) return;
  throw notSupported('requested output mode is not supported', {
    supportedOutputModes: 'text/plain',
    requestedOutputModes: asked.join(','),
  });
};

const checkInputModes = (parts: readonly InputPart[]): void => {
  const refused = parts.map(typeOf).filter((type) => !TAKEN.includes(type.toLowerCase()));
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
