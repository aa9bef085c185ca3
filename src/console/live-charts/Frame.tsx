import { type ReactNode, type RefObject, useCallback, useEffect, useRef, useState } from 'react';
import { IconButton } from '../design/Button.tsx';
import { Scroller } from '../design/Scroller.tsx';
import { Segmented } from '../design/Segmented.tsx';
import { useTexts } from '../i18n/locale.ts';
import css from './Frame.module.css';
import texts from './texts.json' with { type: 'json' };

/**
 * A scrollable frame for a chart. The chart fits into the frame until the user zooms in, but its texts stay readable: a
 * larger chart scrolls to the active state, and the button shows it as a whole.
 */

const STEP = 1.25;
const CLOSEST = 3;
/** Maximum scale when a small chart is fitted to its frame. */
const LARGEST_FIT = 1.15;

type Size = { width: number; height: number };
type Box = Size & { x: number; y: number };

/** The smallest text of a chart has 11 pixels, and that of a compact one 13. */
const SMALLEST = 1;
export const SMALLEST_COMPACT = 11 / 13;

/** The scale at which the whole chart is visible. */
const wholeOf = (room: Size | undefined, { width, height }: Size): number =>
  room ? Math.min(room.width / width, room.height / height, LARGEST_FIT) : 1;

/** Scrolls to a state that is not in the middle of the frame. */
const useFocus = (frame: RefObject<HTMLElement | null>, focus: Box | undefined, scale: number): void => {
  const last = useRef<Box>(undefined);
  useEffect(() => {
    const element = frame.current;
    if (!element || !focus) return;
    const isFirst = last.current === undefined || last.current === focus;
    last.current = focus;
    const isStill = isFirst || matchMedia('(prefers-reduced-motion: reduce)').matches;
    element.scrollTo({
      left: (focus.x + focus.width / 2) * scale - element.clientWidth / 2,
      top: (focus.y + focus.height / 2) * scale - element.clientHeight / 2,
      behavior: isStill ? 'instant' : 'smooth',
    });
  }, [frame, focus, scale]);
};

export const Frame = (props: {
  size: Size;
  levels?: number;
  level?: number;
  onLevel?: (level: number) => void;
  focus?: Box | undefined;
  smallest?: number;
  children: ReactNode;
  /** Content above the chart, at the left. */
  bar?: ReactNode;
}) => {
  const { levels = 1, level = 0, smallest = SMALLEST } = props;
  const t = useTexts(texts);
  const frame = useRef<HTMLElement>(null);
  const [room, setRoom] = useState<Size>();
  const [zoom, setZoom] = useState<number>();
  useEffect(() => {
    const element = frame.current;
    if (!element) return;
    const watch = new ResizeObserver(() =>
      setRoom({ width: element.clientWidth - 2, height: element.clientHeight - 2 }),
    );
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  const whole = wholeOf(room, props.size);
  const fit = Math.max(smallest, whole);
  const scale = zoom ?? fit;
  useFocus(frame, props.focus, scale);
  const go = useCallback(
    (by: number) =>
      setZoom((before) => Math.min(CLOSEST, Math.max(Math.min(smallest, whole), (before ?? fit) * by))),
    [fit, smallest, whole],
  );
  useEffect(() => {
    const element = frame.current;
    const onWheel = (event: WheelEvent): void => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      go(event.deltaY < 0 ? 1.1 : 1 / 1.1);
    };
    element?.addEventListener('wheel', onWheel, { passive: false });
    return () => element?.removeEventListener('wheel', onWheel);
  }, [go]);
  return (
    <div className="column" style={{ height: '100%' }}>
      <div className={`bar ${css.bar}`}>
        {props.bar}
        <span className="push" />
        {levels > 1 && (
          <Segmented
            label={t('detail')}
            value={String(level)}
            options={Array.from(
              { length: levels },
              (_, index) => [String(index), String(index + 1)] as const,
            )}
            onChange={(value) => props.onLevel?.(Number(value))}
            isLabelShown
          />
        )}
        <IconButton small icon="zoomOut" label={t('zoomOut')} onClick={() => go(1 / STEP)} />
        <IconButton small icon="zoomIn" label={t('zoomIn')} onClick={() => go(STEP)} />
        <IconButton
          small
          icon="fit"
          label={t('fit')}
          onClick={() => setZoom(scale === whole ? undefined : whole)}
        />
      </div>
      <Scroller ref={frame} label={t('common.statechart')} className={css.frame}>
        <div className="sheet" style={{ width: props.size.width * scale, height: props.size.height * scale }}>
          {props.children}
        </div>
      </Scroller>
    </div>
  );
};
