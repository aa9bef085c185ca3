import { type ReactNode, useCallback, useEffect, useRef, useState } from 'react';
import { IconButton } from '../design/Button.tsx';
import { Scroller } from '../design/Scroller.tsx';
import { Segmented } from '../design/Segmented.tsx';
import { useTexts } from '../i18n/locale.ts';
import css from './Frame.module.css';
import { texts } from './texts.ts';

/** Where a chart is looked at: it fits into its frame until somebody goes closer, then it is moved by scrolling. */

const STEP = 1.25;
const CLOSEST = 3;
/** Nothing is made larger than it is drawn to fill the frame. */
const LARGEST_FIT = 1.15;

type Size = { width: number; height: number };

const fitOf = (room: Size | undefined, { width, height }: Size): number =>
  room ? Math.min(room.width / width, room.height / height, LARGEST_FIT) : 1;

export const Frame = (props: {
  size: Size;
  levels: number;
  level: number;
  onLevel: (level: number) => void;
  children: ReactNode;
  /** Above the chart, at the left. */
  bar?: ReactNode;
}) => {
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
  const fit = fitOf(room, props.size);
  const scale = zoom ?? fit;
  const go = useCallback(
    (by: number) => setZoom((before) => Math.min(CLOSEST, Math.max(fit, (before ?? fit) * by))),
    [fit],
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
    <div className={css.place}>
      <div className={css.bar}>
        {props.bar}
        <span className={css.push} />
        {props.levels > 1 && (
          <Segmented
            label={t('detail')}
            value={String(props.level)}
            options={Array.from(
              { length: props.levels },
              (_, index) => [String(index), String(index + 1)] as const,
            )}
            onChange={(value) => props.onLevel(Number(value))}
            isLabelShown
          />
        )}
        <IconButton small icon="zoomOut" label={t('zoomOut')} onClick={() => go(1 / STEP)} />
        <IconButton small icon="zoomIn" label={t('zoomIn')} onClick={() => go(STEP)} />
        <IconButton small icon="fit" label={t('fit')} onClick={() => setZoom(undefined)} />
      </div>
      <Scroller ref={frame} label={t('chart')} className={css.frame}>
        <div
          className={css.sheet}
          style={{ width: props.size.width * scale, height: props.size.height * scale }}
        >
          {props.children}
        </div>
      </Scroller>
    </div>
  );
};
