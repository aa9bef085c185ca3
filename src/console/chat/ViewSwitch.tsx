import { Segmented } from '../design/Segmented.tsx';
import { useTexts } from '../i18n/locale.ts';
import type { View } from './Message.tsx';
import texts from './texts.json' with { type: 'json' };

export const ViewSwitch = ({ view, onChange }: { view: View; onChange: (view: View) => void }) => {
  const t = useTexts(texts);
  return (
    <Segmented
      label={t('view.label')}
      value={view}
      options={[
        ['readable', t('view.readable')],
        ['json', t('view.json')],
      ]}
      onChange={onChange}
    />
  );
};
