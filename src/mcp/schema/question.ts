/** A question to the user for one argument of a tool or one field of a form. */
export type ArgumentQuestion = QuestionKind & {
  readonly name: string;
  readonly title: string;
  readonly description?: string;
  readonly required: boolean;
  /** Whether null is allowed; an empty answer to a required question then means null. */
  readonly nullable: boolean;
  /** The schema's default, if it is a valid answer. */
  readonly default?: unknown;
};

export type QuestionKind =
  | { readonly kind: 'choice'; readonly choices: readonly AnswerChoice[] }
  | ChoicesKind
  | { readonly kind: 'yesNo' }
  | NumberKind
  | TextKind
  | JsonKind;

export interface AnswerChoice {
  readonly value: unknown;
  /** The typed form of the value, unique within the question. */
  readonly text: string;
  readonly label: string;
}

export interface ChoicesKind {
  readonly kind: 'choices';
  readonly choices: readonly AnswerChoice[];
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly unique: boolean;
}

export interface NumberKind {
  readonly kind: 'number';
  readonly integer: boolean;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly multipleOf?: number;
}

export interface TextKind {
  readonly kind: 'text';
  readonly minLength?: number;
  readonly maxLength?: number;
  /** Passed `isSafePattern`. */
  readonly pattern?: string;
  readonly format?: TextFormat;
}

export interface JsonKind {
  readonly kind: 'json';
  readonly example: string;
  readonly shape?: 'object' | 'array';
  /** Whether input that is not JSON is taken as a string. */
  readonly allowsText: boolean;
}

export type ChoicesQuestion = Extract<ArgumentQuestion, { kind: 'choices' }>;

export type CheckedAnswer =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly message: string };

/** Formats that are checked in the editor; the server checks others. */
export type TextFormat = 'email' | 'uri' | 'date' | 'date-time';
