import type { Progress } from '@modelcontextprotocol/client';
import type { ToolProgress } from '../tools/tool.ts';
import { excerpt } from './bounds.ts';

/**
 * How far a call is, as a run shows it (mcp.md B8). What a user could not see anyway is dropped.
 */
export const createProgress = (show: (progress: ToolProgress) => void): ((progress: Progress) => void) => {
  let shown: { at: number; value: number; message: string | undefined } | undefined;
  return ({ progress, total, message }) => {
    const value = total !== undefined && total > 0 ? Math.min(1, Math.max(0, progress / total)) : progress;
    if (!Number.isFinite(value)) return;
    const at = performance.now();
    const isNews =
      !shown ||
      at - shown.at >= 100 ||
      Math.abs(value - shown.value) >= 0.01 ||
      message !== shown.message ||
      value >= 1;
    if (!isNews) return;
    shown = { at, value, message };
    show({ status: 'running', progress: value, ...(message !== undefined && { message: excerpt(message) }) });
  };
};
