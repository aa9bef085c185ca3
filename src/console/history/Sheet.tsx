import { useVirtualizer, type Virtualizer } from '@tanstack/react-virtual';
import type { ReactNode, RefObject } from 'react';
import { IconButton } from '../design/Button.tsx';
import { texts as forkTexts } from '../fork/texts.ts';
import { useTexts } from '../i18n/locale.ts';
import css from './History.module.css';
import { type Message, textIn } from './messages.ts';
import { Said } from './Said.tsx';

/** A conversation inside a part that scrolls: of a long one only what is in view is made. */

/** What one is likely to need, so that little moves when it is made: measured in pixels, and in letters of a line. */
const HEAD_PX = 51;
const LINE_PX = 20;
const LINE = 90;

const heightOf = (message: Message | undefined): number =>
  HEAD_PX + LINE_PX * Math.max(1, Math.ceil((message ? textIn(message).length : 0) / LINE));

type View = Virtualizer<HTMLElement, Element>;

/** What of the messages is in view. @param frame what scrolls */
export const useView = (messages: readonly Message[], frame: RefObject<HTMLElement | null>): View =>
  useVirtualizer<HTMLElement, Element>({
    count: messages.length,
    getScrollElement: () => frame.current,
    estimateSize: (index) => heightOf(messages[index]),
    getItemKey: (index) => messages[index]?.seq ?? index,
    overscan: 6,
  });

export const Sheet = (props: {
  messages: readonly Message[];
  view: View;
  testId: string;
  /** What stands above a message. */
  above?: (message: Message, before: Message | undefined) => ReactNode;
  onFork: (message: Message) => void;
}) => {
  const say = useTexts(forkTexts);
  const { messages, view, above, onFork } = props;
  return (
    <ol className={css.sheet} style={{ height: view.getTotalSize() }} data-testid={props.testId}>
      {view.getVirtualItems().map(({ index, start, key }) => {
        const message = messages[index];
        if (!message) return null;
        const canFork = message.role === 'user' || message.role === 'assistant';
        return (
          <li
            key={key}
            ref={view.measureElement}
            data-index={index}
            className={css.placed}
            style={{ transform: `translateY(${start}px)` }}
          >
            {above?.(message, messages[index - 1])}
            <Said
              message={message}
              actions={
                canFork && (
                  <IconButton small icon="duplicate" label={say('here')} onClick={() => onFork(message)} />
                )
              }
            />
          </li>
        );
      })}
    </ol>
  );
};
