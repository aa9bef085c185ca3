import { Chip } from '../../design/Chip.tsx';
import { textOr, useTexts } from '../../i18n/locale.ts';
import texts from './texts.json' with { type: 'json' };
import type { User } from './user.ts';

export const KindChip = ({ kind }: Pick<User, 'kind'>) => {
  const t = useTexts(texts);
  const name = textOr(t, texts, `field.kind.${kind}`, kind);
  return <Chip tone={kind === 'service' ? 'agent' : 'info'}>{name}</Chip>;
};

export const StateChip = ({ disabled }: Pick<User, 'disabled'>) => {
  const t = useTexts(texts);
  return (
    <Chip tone={disabled ? 'error' : 'success'}>{t(disabled ? 'state.disabled' : 'state.enabled')}</Chip>
  );
};
