import type { Progress } from '@modelcontextprotocol/client';
import type { ToolProgress } from '../tools/tool.ts';
import { BOUNDS, excerpt } from './bounds.ts';

/**
 * How far a call is, as a run shows it (mcp.md B8): what a user could not see anyway is dropped, and a server that
 * tells more than anybody can look at is heard a few times a second.
 */
export const createProgress = (show: (progress: ToolProgress) => void): ((progress: Progress) => void) => {
  let shown: { at: number; value: number; message: string | undefined } | undefined;
  let second = 0;
  let count = 0;
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
    if (Math.floor(at / 1000) !== second) count = 0;
    second = Math.floor(at / 1000);
    count += 1;
    if (count > BOUNDS.progressRate) return;
    shown = { at, value, message };
    show({ status: 'running', progress: value, ...(message !== undefined && { message: excerpt(message) }) });
  };
};
