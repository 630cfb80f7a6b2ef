package main

import (
	"context"
	"fmt"

	"github.com/typedmcp/mcp"
)

// userName is the form that most of these tools ask for.
type userName struct {
	Name string `json:"name" jsonschema_description:"Your name"`
}

// messageArgs are the arguments of test_elicitation.
type messageArgs struct {
	Message string `json:"message" jsonschema_description:"What to ask"`
}

// contact is the form of test_elicitation.
type contact struct {
	Username string `json:"username" jsonschema_description:"User's response"`
	Email    string `json:"email" jsonschema_description:"User's email address"`
}

// promptText are the arguments of test_sampling.
type promptText struct {
	Prompt string `json:"prompt" jsonschema_description:"What to ask the model"`
}

// addRounds adds tools and a prompt that ask the client in the middle.
func addRounds(s *mcp.Server) {
	mcp.AddTool(s, "test_input_required_result_elicitation", "Asks for a name", askName)
	mcp.AddTool(s, "test_streaming_elicitation", "Asks for a name", askName)
	mcp.AddTool(s, "test_input_required_result_sampling", "Asks the model", askModel)
	mcp.AddTool(s, "test_input_required_result_list_roots", "Asks for the roots", askRoots)
	mcp.AddTool(s, "test_input_required_result_request_state", "Asks for a confirmation", askConfirmation)
	mcp.AddTool(s, "test_input_required_result_tampered_state", "Asks for a confirmation", askConfirmation)
	mcp.AddTool(s, "test_input_required_result_multiple_inputs", "Asks for three things at once", askAll)
	mcp.AddTool(s, "test_input_required_result_multi_round", "Asks for one thing after the other", askTwice)
	mcp.AddTool(s, "test_input_required_result_capabilities", "Asks in the way that the client can be asked", askAsPossible)
	mcp.AddTool(s, "test_elicitation", "Asks what it is told to ask", func(ctx context.Context, a messageArgs) (string, error) {
		c, err := mcp.Elicit[contact](ctx, "contact", a.Message)
		return fmt.Sprintf("User response: %s, %s", c.Username, c.Email), err
	})
	mcp.AddTool(s, "test_sampling", "Asks the model what it is told to ask", func(ctx context.Context, a promptText) (string, error) {
		return sample(ctx, a.Prompt)
	})
	mcp.AddPrompt(s, "test_input_required_result_prompt", "A prompt that asks for a name", func(ctx context.Context, _ none) (string, error) {
		c, err := mcp.Elicit[struct {
			Context string `json:"context" jsonschema_description:"What the prompt is about"`
		}](ctx, "user_input", "What is the context?")
		return "Talk about " + c.Context + ".", err
	})
}

func askName(ctx context.Context, _ none) (string, error) {
	u, err := mcp.Elicit[userName](ctx, "user_name", "What is your name?")
	return "Hello, " + u.Name, err
}

func askConfirmation(ctx context.Context, _ none) (string, error) {
	c, err := mcp.Elicit[struct {
		OK bool `json:"ok" jsonschema_description:"Whether to go on"`
	}](ctx, "confirm", "Shall I go on?")
	return fmt.Sprint("Confirmed: ", c.OK), err
}

func askModel(ctx context.Context, _ none) (string, error) {
	return sample(ctx, "What is the capital of France?")
}

func sample(ctx context.Context, text string) (string, error) {
	r, err := mcp.Sample(ctx, "answer", &mcp.SampleRequest{Messages: []mcp.Message{mcp.User(text)}, MaxTokens: 100})
	if err != nil {
		return "", err
	}
	return "LLM response: " + r.Text(), nil
}

func askRoots(ctx context.Context, _ none) (string, error) {
	roots, err := mcp.Roots(ctx, "roots")
	return fmt.Sprintf("%d roots", len(roots)), err
}

func askAll(ctx context.Context, _ none) (string, error) {
	err := mcp.Gather(ctx,
		mcp.AskForm[userName]("user_name", "What is your name?"),
		mcp.AskSample("greeting", &mcp.SampleRequest{Messages: []mcp.Message{mcp.User("Generate a greeting.")}, MaxTokens: 50}),
		mcp.AskRoots("roots"))
	if err != nil {
		return "", err
	}
	u, _, err := mcp.Answer[userName](ctx, "user_name")
	return "Hello, " + u.Name, err
}

func askTwice(ctx context.Context, _ none) (string, error) {
	u, err := mcp.Elicit[userName](ctx, "step1", "Step 1: what is your name?")
	if err != nil {
		return "", err
	}
	c, err := mcp.Elicit[struct {
		Color string `json:"color" jsonschema_description:"Favourite colour"`
	}](ctx, "step2", "Step 2: what is your favourite colour?")
	return u.Name + " likes " + c.Color, err
}

func askAsPossible(ctx context.Context, args none) (string, error) {
	if mcp.Can(ctx, "elicitation.form") {
		return askName(ctx, args)
	}
	return askModel(ctx, args)
}
