import { Button } from '../design/Button.tsx';
import { CheckField } from '../design/Field.tsx';
import { Segmented } from '../design/Segmented.tsx';
import { useFormat, useTexts } from '../i18n/locale.ts';
import { useQueryState } from '../list/use-query-state.ts';
import { between, PRESETS, type Range, rangeOf, secondsOf, spanText } from './range.ts';
import texts from './texts.json' with { type: 'json' };

export const useRange = () => {
  const [{ range: text, compare }, setQuery] = useQueryState();
  return {
    range: rangeOf(text),
    isCompared: compare === 'previous',
    setRange: (range: string) => setQuery({ range }),
    /** The range of a part of a chart, in milliseconds. */
    select: (from: number, to: number) =>
      setQuery({ range: between(Math.floor(from / 1000), Math.ceil(to / 1000)) }),
    setCompared: (isOn: boolean) => setQuery({ compare: isOn ? 'previous' : undefined }),
  };
};

const useRangeText = ({ text, until, seconds }: Range): string => {
  const format = useFormat();
  if (until === undefined) return format.duration(secondsOf(text) * 1000);
  return spanText(format.tick, (until - seconds) * 1000, until * 1000);
};

/** Selects the range of the page: one of the usual ranges that the service has kept, or a part of a chart. */
export const RangeBar = ({ keptSeconds }: { keptSeconds?: number | undefined }) => {
  const t = useTexts(texts);
  const { range, setRange, isCompared, setCompared } = useRange();
  const own = useRangeText(range);
  const presets = PRESETS.filter((one) => secondsOf(one) <= Math.max(keptSeconds ?? 0, secondsOf('7d')));
  const isPreset = presets.some((one) => one === range.text);
  return (
    <>
      <CheckField label={t('range.compare')} checked={isCompared} onChange={setCompared} />
      {!isPreset && (
        <Button small icon="close" title={t('range.reset')} onClick={() => setRange('24h')}>
          {own}
        </Button>
      )}
      <Segmented
        label={t('range')}
        value={range.text}
        options={presets.map((one) => [one, t(`range.${one}`)])}
        onChange={setRange}
      />
    </>
  );
};
