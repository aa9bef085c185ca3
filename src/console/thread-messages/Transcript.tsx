import { useVirtualizer, type Virtualizer } from '@tanstack/react-virtual';
import { type ReactNode, type RefObject, useMemo } from 'react';
import { READ_ONLY } from '../chat/Call.tsx';
import { Message as ChatMessage } from '../chat/Message.tsx';
import { useMayInvoke } from '../data/identity.ts';
import { IconButton } from '../design/Button.tsx';
import { Chip } from '../design/Chip.tsx';
import { PlacedRows } from '../design/PlacedRows.tsx';
import { Ago } from '../design/Time.tsx';
import forkTexts from '../fork/texts.json' with { type: 'json' };
import { useTexts } from '../i18n/locale.ts';
import { type Row, rowsOf, type Said } from './conversation.ts';
import { type Message, textIn } from './messages.ts';
import css from './Transcript.module.css';
import texts from './texts.json' with { type: 'json' };

/** Stored messages as a conversation, drawn like an open chat. */

const Facts = ({ said: { seq, created_at, visibility } }: { said: Said }) => {
  const t = useTexts(texts);
  return (
    <span className="row">
      {seq !== undefined && <span>#{seq}</span>}
      {created_at !== undefined && <Ago at={created_at} />}
      {visibility === 'internal' && <Chip>{t('internal')}</Chip>}
    </span>
  );
};

/** Whether calls without a result may still receive one. */
type Place = keyof typeof READ_ONLY;

const OneRow = <M extends Said>(props: { row: Row<M>; place: Place; actions?: ReactNode }) => {
  const { row, place, actions } = props;
  return (
    <div data-internal={row.said.visibility === 'internal' || undefined} className={`narrow ${css.row}`}>
      <ChatMessage
        message={row.message}
        context={READ_ONLY[place]}
        note={<Facts said={row.said} />}
        actions={actions}
      />
    </div>
  );
};

/** A short list of messages, such as the messages of one inference. */
export const Transcript = ({ messages, place }: { messages: readonly Said[]; place: Place }) => {
  const rows = useMemo(() => rowsOf(messages), [messages]);
  return (
    <ol className="stack">
      {rows.map((row) => (
        <li key={row.message.id}>
          <OneRow row={row} place={place} />
        </li>
      ))}
    </ol>
  );
};

/** Estimated height of a message before it is rendered: pixels of its frame and of a line, and characters per line. */
const FRAME_PX = 60;
const LINE_PX = 20;
const LINE = 90;

const heightOf = (row: Row | undefined): number =>
  FRAME_PX + LINE_PX * Math.max(1, Math.ceil((row ? textIn(row.said).length : 0) / LINE));

export type View = { rows: readonly Row<Message>[]; virtual: Virtualizer<HTMLElement, Element> };

/** The visible part of a long conversation. @param frame the scrolling element */
export const useView = (messages: readonly Message[], frame: RefObject<HTMLElement | null>): View => {
  const rows = useMemo(() => rowsOf(messages), [messages]);
  const virtual = useVirtualizer<HTMLElement, Element>({
    count: rows.length,
    getScrollElement: () => frame.current,
    estimateSize: (index) => heightOf(rows[index]),
    getItemKey: (index) => rows[index]?.said.seq ?? index,
    overscan: 6,
  });
  return { rows, virtual };
};

/** A conversation of any length in a scrolling element. Only the visible messages are rendered. */
export const Sheet = (props: {
  view: View;
  testId: string;
  above?: (message: Message, before: Message | undefined) => ReactNode;
  placeOf: (message: Message) => Place;
  onFork: (message: Message) => void;
}) => {
  const say = useTexts(forkTexts);
  const mayInvoke = useMayInvoke();
  const { view, above, placeOf, onFork } = props;
  const { rows, virtual } = view;
  return (
    <PlacedRows virtual={virtual} testId={props.testId} rowLook={css.placed}>
      {(index) => {
        const row = rows[index];
        if (!row) return null;
        const { said } = row;
        const canFork = mayInvoke && (said.role === 'user' || said.role === 'assistant');
        return (
          <>
            {above?.(said, rows[index - 1]?.said)}
            <OneRow
              row={row}
              place={placeOf(said)}
              actions={
                canFork && (
                  <IconButton small icon="duplicate" label={say('here')} onClick={() => onFork(said)} />
                )
              }
            />
          </>
        );
      }}
    </PlacedRows>
  );
};
