// Questions and notices for the client's user (extension UI records of RPC mode), and the answers.
import * as z from "zod/mini";

const request = { type: z.literal("extension_ui_request"), id: z.string() };
/** Milliseconds after which the agent goes on without an answer. */
const timeout = z.optional(z.number());

/** A yes or no; this program asks for leave to run a tool so, with the whole command or diff as `message`. No answer counts as a no. */
export const ConfirmRequest = z.looseObject({
  ...request,
  method: z.literal("confirm"),
  title: z.string(),
  message: z.string(),
  timeout,
});
export type ConfirmRequest = z.infer<typeof ConfirmRequest>;

/** A choice: the answer's `value` is one of the options, word for word. */
export const SelectRequest = z.looseObject({
  ...request,
  method: z.literal("select"),
  title: z.string(),
  options: z.array(z.string()),
  timeout,
});
export type SelectRequest = z.infer<typeof SelectRequest>;

/** A line of text; asked by pi's extensions, never by this program. */
export const InputRequest = z.looseObject({
  ...request,
  method: z.literal("input"),
  title: z.string(),
  placeholder: z.optional(z.string()),
  timeout,
});
export type InputRequest = z.infer<typeof InputRequest>;

/** A text of several lines; asked by pi's extensions, never by this program. */
export const EditorRequest = z.looseObject({
  ...request,
  method: z.literal("editor"),
  title: z.string(),
  prefill: z.optional(z.string()),
  timeout,
});
export type EditorRequest = z.infer<typeof EditorRequest>;

/** What waits for an answer. */
export const UiDialog = z.discriminatedUnion("method", [ConfirmRequest, SelectRequest, InputRequest, EditorRequest]);
export type UiDialog = z.infer<typeof UiDialog>;

/** What pi's extensions show, which needs no answer; this program sends none. */
export const UiNotice = z.discriminatedUnion("method", [
  z.looseObject({
    ...request,
    method: z.literal("notify"),
    message: z.string(),
    notifyType: z.optional(z.enum(["info", "warning", "error"])),
  }),
  z.looseObject({
    ...request,
    method: z.literal("setStatus"),
    statusKey: z.string(),
    statusText: z.optional(z.string()),
  }),
  z.looseObject({
    ...request,
    method: z.literal("setWidget"),
    widgetKey: z.string(),
    widgetLines: z.optional(z.array(z.string())),
    widgetPlacement: z.optional(z.enum(["aboveEditor", "belowEditor"])),
  }),
  z.looseObject({ ...request, method: z.literal("setTitle"), title: z.string() }),
  z.looseObject({ ...request, method: z.literal("set_editor_text"), text: z.string() }),
]);
export type UiNotice = z.infer<typeof UiNotice>;

/** A question or a notice, told apart by its `method`. */
export const UiRequest = z.union([UiDialog, UiNotice]);
export type UiRequest = z.infer<typeof UiRequest>;

/** The answer to the dialog of this id: one of the three. It gets no response. */
export const UiResponse = z.object({
  id: z.string(),
  value: z.optional(z.string()),
  confirmed: z.optional(z.boolean()),
  cancelled: z.optional(z.boolean()),
});
export type UiResponse = z.infer<typeof UiResponse>;

/** The line that carries it. */
export type UiResponseCommand = { type: "extension_ui_response" } & UiResponse;
