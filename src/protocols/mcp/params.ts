import type { Implementation } from '@modelcontextprotocol/server';
import { isObject } from '../../schema/endpoint.ts';
import { SESSION_VERSIONS } from './versions.ts';

/**
 * Checks parameters of requests where the SDK is stricter than the endpoint, sends no response, or uses another
 * message.
 */

/** The method whose responses are always streamed. */
export const STREAMED = 'tools/call';

/** Replaces missing and invalid parameters by defaults, so that any parameters are accepted. */
export const asInitialize = (
  protocolVersion: unknown,
  { capabilities, clientInfo }: Record<string, unknown>,
): object => {
  const [newest] = SESSION_VERSIONS;
  return {
    protocolVersion: typeof protocolVersion === 'string' ? protocolVersion : newest,
    capabilities: isObject(capabilities) ? capabilities : {},
    clientInfo: isClientInfo(clientInfo) ? clientInfo : UNNAMED,
  };
};

const UNNAMED: Implementation = { name: 'unnamed', version: '0' };

const isClientInfo = (info: unknown): info is Implementation =>
  isObject(info) && typeof info.name === 'string' && typeof info.version === 'string';

/** Lists have no pages, so the cursor is irrelevant. */
export const withoutOddCursor = (params: unknown): unknown => {
  if (!isObject(params) || params.cursor === undefined || typeof params.cursor === 'string') return params;
  const { cursor: _, ...rest } = params;
  return rest;
};

/** Checks everything that the SDK would leave without a response or report with another message (mcp.md A7, A9). */
export const paramsProblem = (method: string, params: unknown): string | undefined => {
  if (method === 'logging/setLevel') {
    const { level } = isObject(params) ? params : {};
    const isLevel = typeof level === 'string' && LEVELS.includes(level);
    return isLevel ? undefined : `level must be one of ${LEVELS.join(', ')}`;
  }
  if (method !== STREAMED) return formProblem(params);
  if (params === undefined || params === null) return 'Missing params';
  if (!isObject(params) || typeof params.name !== 'string') return 'Missing tool name';
  return argumentsProblem(params) ?? formProblem(params);
};

/** The SDK rejects messages with such parameters without a response. */
const formProblem = (params: unknown = {}): string | undefined => {
  if (!isObject(params)) return "'params' must be an object";
  const { _meta: meta = {} } = params;
  if (!isObject(meta)) return "'_meta' must be an object";
  const { progressToken: token = 0 } = meta;
  return typeof token === 'string' || Number.isSafeInteger(token)
    ? undefined
    : "'progressToken' must be a string or an integer";
};

const argumentsProblem = ({ arguments: given = {} }: Record<string, unknown>): string | undefined =>
  isObject(given) ? undefined : "'arguments' must be an object";

const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];
