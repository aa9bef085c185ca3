import { z } from 'zod';
import type { TaskState } from '../../../machines/a2a-task.ts';

/** Errors in the form of A2A (a2a.md 3.3): a status of google.rpc, with details for clients. */

export type Violation = { field: string; description: string };

/** Clients branch on these. */
export const REASONS = [
  'INVALID_PARAMS',
  'VERSION_NOT_SUPPORTED',
  'CONTENT_TYPE_NOT_SUPPORTED',
  'TASK_NOT_FOUND',
  'TASK_NOT_CANCELABLE',
  'UNSUPPORTED_OPERATION',
  'PUSH_NOTIFICATION_NOT_SUPPORTED',
  'UNAUTHENTICATED',
  'PERMISSION_DENIED',
  'BUDGET_EXCEEDED',
  'RATE_LIMITED',
] as const;

export type Reason = (typeof REASONS)[number];

type Detail =
  | { '@type': 'type.googleapis.com/google.rpc.BadRequest'; fieldViolations: readonly Violation[] }
  | {
      '@type': 'type.googleapis.com/google.rpc.ErrorInfo';
      reason: Reason;
      domain: 'a2a-protocol.org';
      metadata: Record<string, string>;
    };

export class A2aError extends Error {
  /** HTTP status. */
  readonly code: number;
  readonly status: string;
  readonly details: readonly Detail[];
  readonly headers: Record<string, string>;

  constructor(
    code: number,
    status: string,
    message: string,
    { details = [], headers = {} }: { details?: readonly Detail[]; headers?: Record<string, string> } = {},
  ) {
    super(message);
    this.name = 'A2aError';
    this.code = code;
    this.status = status;
    this.details = details;
    this.headers = headers;
  }
}

export const badRequest = (fieldViolations: readonly Violation[]): Detail => ({
  '@type': 'type.googleapis.com/google.rpc.BadRequest',
  fieldViolations,
});

export const errorInfo = (reason: Reason, metadata: Record<string, string> = {}): Detail => ({
  '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
  reason,
  domain: 'a2a-protocol.org',
  metadata,
});

/** Reports all problems of a request at once. */
export const invalidRequest = (violations: readonly Violation[]): A2aError =>
  new A2aError(400, 'INVALID_ARGUMENT', 'invalid A2A request', {
    details: [badRequest(violations), errorInfo('INVALID_PARAMS')],
  });

export const taskNotFound = (taskId: string): A2aError =>
  new A2aError(404, 'NOT_FOUND', `task not found: ${taskId}`, {
    details: [errorInfo('TASK_NOT_FOUND', { taskId })],
  });

export const agentNotFound = (id: string): A2aError =>
  new A2aError(404, 'NOT_FOUND', `agent not found: ${id}`);

export const unsupportedOperation = (message: string, metadata: Record<string, string>): A2aError =>
  new A2aError(400, 'FAILED_PRECONDITION', message, {
    details: [errorInfo('UNSUPPORTED_OPERATION', metadata)],
  });

export const notCancelable = (taskId: string, state: TaskState): A2aError =>
  new A2aError(409, 'FAILED_PRECONDITION', `task is not cancelable in state ${state}`, {
    details: [errorInfo('TASK_NOT_CANCELABLE', { taskId, state })],
  });

export const unsupportedPath = (path: string): A2aError =>
  new A2aError(404, 'NOT_FOUND', `unsupported A2A path: ${path}`);

export const unsupportedAction = (segment: string): A2aError =>
  new A2aError(404, 'NOT_FOUND', `unsupported A2A task action path: ${segment}`);

export const methodNotAllowed = (method: string, allow: string): A2aError =>
  new A2aError(405, 'UNIMPLEMENTED', `${method} is not allowed here, only ${allow}`, { headers: { allow } });

export const versionNotSupported = (requestedVersion: string): A2aError =>
  new A2aError(400, 'FAILED_PRECONDITION', `unsupported A2A-Version '${requestedVersion}'`, {
    details: [errorInfo('VERSION_NOT_SUPPORTED', { requestedVersion, supportedVersion: '1.0' })],
  });

export const contentTypeNotSupported = (): A2aError =>
  new A2aError(415, 'INVALID_ARGUMENT', 'unsupported content type', {
    details: [
      errorInfo('CONTENT_TYPE_NOT_SUPPORTED'),
      badRequest([
        {
          field: 'contentType',
          description: 'Content-Type must be application/json or application/a2a+json',
        },
      ]),
    ],
  });

export const noAgents = (): A2aError => new A2aError(404, 'NOT_FOUND', 'no runnable local agents registered');

export const noExtendedCard = (): A2aError =>
  new A2aError(501, 'UNIMPLEMENTED', 'extendedAgentCard is not configured for this agent', {
    details: [errorInfo('UNSUPPORTED_OPERATION')],
  });

export const unauthenticated = (message: string): A2aError =>
  new A2aError(401, 'UNAUTHENTICATED', message, {
    details: [errorInfo('UNAUTHENTICATED')],
    headers: { 'www-authenticate': 'Bearer' },
  });

export const noPush = (): A2aError =>
  new A2aError(400, 'FAILED_PRECONDITION', 'push notifications are disabled', {
    details: [errorInfo('PUSH_NOTIFICATION_NOT_SUPPORTED')],
  });

export const pushConfigNotFound = (taskId: string, configId: string): A2aError =>
  new A2aError(404, 'NOT_FOUND', `push notification config not found for task ${taskId}: ${configId}`, {
    details: [errorInfo('TASK_NOT_FOUND', { taskId, configId })],
  });

/** The error body. */
export const ErrorEnvelope = z
  .object({
    error: z.object({
      code: z.int().meta({ description: 'the HTTP status' }),
      status: z.string().meta({ description: 'of google.rpc, such as `NOT_FOUND`' }),
      message: z.string(),
      details: z.array(z.looseObject({ '@type': z.string() })).optional(),
    }),
  })
  .meta({ id: 'A2aError', description: 'An error in the A2A format.' });

export const errorBody = ({ code, status, message, details }: A2aError): z.input<typeof ErrorEnvelope> => ({
  error: { code, status, message, ...(details.length > 0 && { details: [...details] }) },
});
