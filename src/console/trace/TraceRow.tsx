import { Chip, type Tone } from '../design/Chip.tsx';
import { useFormat, useTexts } from '../i18n/locale.ts';
import css from './TraceRow.module.css';
import { texts } from './texts.ts';
import { placeIn, type Span, type TraceEvent } from './traces.ts';

const TONES: Record<string, Tone> = {
  inference: 'info',
  tool: 'success',
  suspension: 'warn',
  handoff: 'agent',
  delegation: 'agent',
  evaluation_result: 'none',
  background_task: 'none',
};

/** The height of one, in pixels. */
export const TRACE_ROW = 30;

/** What happened, with a bar where it lies in its run. */
export const TraceRow = ({
  event,
  span,
  top,
  isChosen,
  onChoose,
}: {
  event: TraceEvent;
  span: Span;
  /** In a list of which only a part is made: where it stands, in pixels. */
  top?: number;
  isChosen?: boolean;
  /** There is more to be seen of it. */
  onChoose?: () => void;
}) => {
  const t = useTexts(texts);
  const format = useFormat();
  const { left, width } = placeIn(event, span);
  const failed = event.error_type !== undefined;
  const tokens = (event.input_tokens ?? 0) + (event.output_tokens ?? 0);
  return (
    <li
      className={css.row}
      data-testid="recent-traces-event-row"
      style={top === undefined ? undefined : { transform: `translateY(${top}px)` }}
    >
      <Chip tone={failed ? 'error' : TONES[event.type]}>{event.type}</Chip>
      {onChoose ? (
        <button type="button" className={css.name} aria-expanded={isChosen} onClick={onChoose}>
          {event.name ?? event.model ?? event.type}
        </button>
      ) : (
        <span className={css.name}>{event.name ?? event.model ?? ''}</span>
      )}
      <span className={css.track} aria-hidden="true">
        <span
          data-tone={failed ? 'error' : TONES[event.type]}
          style={{ left: `${left * 100}%`, width: `max(2px, ${width * 100}%)` }}
        />
      </span>
      <span className={css.number}>{tokens > 0 && t('tokens', { count: format.compact(tokens) })}</span>
      <span className={css.number}>
        {event.duration_ms === undefined ? '—' : format.duration(event.duration_ms)}
      </span>
    </li>
  );
};
