import { ToolError, type ToolErrorKind } from './tool.ts';

/** A failure with a code (agent-loop.md 6.2): `data {"error":{"code","message"}}`, `message "[code] …"`. */
export const codedError = (
  code: string,
  message: string,
  kind: ToolErrorKind = 'execution_failed',
): ToolError => new ToolError(kind, message, { code });
