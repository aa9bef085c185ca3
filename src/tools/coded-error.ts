import { ToolError, type ToolErrorKind } from './tool.ts';

/** The codes of failures of built-in tools (agent-loop.md 6.2, 14.3). */
export const TOOL_CODES = [
  'unknown_skill',
  'model_invocation_disabled',
  'invalid_arguments',
  'invalid_path',
  'unsupported_path',
  'path_escapes_root',
  'unsupported_operation',
  'invalid_skill_md',
  'script_timeout',
  'io_error',
] as const;

type ToolCode = (typeof TOOL_CODES)[number];

/** A failure with a code (agent-loop.md 6.2): `data {"error":{"code","message"}}`, `message "[code] …"`. */
export const codedError = (
  code: ToolCode,
  message: string,
  kind: ToolErrorKind = 'execution_failed',
): ToolError => new ToolError(kind, message, { code });
