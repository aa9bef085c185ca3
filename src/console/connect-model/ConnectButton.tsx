import { Button } from '../design/Button.tsx';
import { useTexts } from '../i18n/locale.ts';
import { useQueryState } from '../list/use-query-state.ts';
import { texts } from './texts.ts';

/** Opens the dialog that connects a model. */
export const ConnectButton = () => {
  const t = useTexts(texts);
  const [, setQuery] = useQueryState();
  return (
    <Button icon="plus" tone="primary" onClick={() => setQuery({ connect: '1' })}>
      {t('title')}
    </Button>
  );
};
