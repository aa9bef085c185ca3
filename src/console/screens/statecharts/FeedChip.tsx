import { redactText } from '../../data/redact-text.ts';
import { Chip } from '../../design/Chip.tsx';
import { useTexts } from '../../i18n/locale.ts';
import type { FeedState } from '../../live-charts/feed.ts';
import texts from '../../live-charts/texts.json' with { type: 'json' };

const TONES = { connecting: 'info', live: 'success', cut: 'warn', refused: 'error' } as const;

export const FeedChip = ({ state }: { state: FeedState }) => {
  const t = useTexts(texts);
  const why = state.name === 'refused' && state.error instanceof Error ? state.error.message : undefined;
  return (
    <span role="status">
      <Chip tone={TONES[state.name]} {...(why !== undefined && { title: redactText(why) })}>
        {t(`feed.${state.name}`)}
      </Chip>
    </span>
  );
};
