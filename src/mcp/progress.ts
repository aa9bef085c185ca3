import type { Progress } from '@modelcontextprotocol/client';
import type { ToolProgress } from '../tools/tool.ts';
import { excerpt } from './bounds.ts';

/** Shows the progress of a call in its run (mcp.md B8). Updates that are too frequent to be visible are dropped. */
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
