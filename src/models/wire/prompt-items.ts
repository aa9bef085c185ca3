import type { ReasoningItem } from '../../schema/message.ts';
import { type AssistantPart, type ItemPart, textParts } from './prompt-parts.ts';

/** The items of a completion at their positions, which are counted in characters of its text and in calls. */
export type PromptItems = {
  /** Returns a text of the completion, with the items before and within it. */
  within(text: string): AssistantPart[];
  before(call: number): ItemPart[];
  rest(): ItemPart[];
};

/** `items` is in order. */
export const createItems = (items: readonly ReasoningItem[]): PromptItems => {
  let next = 0;
  let texted = 0;
  const due = (isDue: (after: ReasoningItem['after']) => boolean): ItemPart[] => {
    const parts: ItemPart[] = [];
    for (let each = items[next]; each && isDue(each.after); each = items[next]) {
      parts.push(itemPart(each));
      next += 1;
    }
    return parts;
  };
  return {
    within(text) {
      const parts: AssistantPart[] = [];
      let from = 0;
      for (let each = items[next]; each && each.after.calls === 0; each = items[next]) {
        const at = each.after.text - texted;
        if (at >= text.length) break;
        parts.push(...textParts(text.slice(from, at)), itemPart(each));
        from = Math.max(from, at);
        next += 1;
      }
      texted += text.length;
      return [...parts, ...textParts(text.slice(from))];
    },
    before: (call) => due(({ calls }) => calls <= call),
    rest: () => due(() => true),
  };
};

const itemPart = ({ item, tool }: ReasoningItem): ItemPart => ({
  type: 'item',
  item,
  ...(tool !== undefined && { tool }),
});
